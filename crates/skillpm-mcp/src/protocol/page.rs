//! Pages of lists. A cursor is the number of entries before the page.

use rmcp::ErrorData;
use rmcp::model::PaginatedRequestParams;

/// Returns the page of at most `size` items that `request` wants, and the cursor of the next one.
pub(super) fn of<T>(
    items: &[T],
    request: Option<PaginatedRequestParams>,
    size: usize,
) -> Result<(&[T], Option<String>), ErrorData> {
    let start = match request.and_then(|request| request.cursor) {
        None => 0,
        Some(cursor) => match cursor.parse::<usize>() {
            Ok(start) if start % size == 0 => start,
            _ => {
                return Err(ErrorData::invalid_params(
                    format!("`{cursor}` is not a cursor of this list"),
                    None,
                ));
            }
        },
    };
    // The list may have become shorter meanwhile: then this is its end.
    let page = items.get(start..).unwrap_or_default();
    let page = page.get(..size).unwrap_or(page);
    let end = start + page.len();
    Ok((page, (!page.is_empty() && end < items.len()).then(|| end.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_join_to_the_whole_list() {
        let items: Vec<_> = (0..25).collect();
        let (mut all, mut cursor) = (Vec::new(), None);
        loop {
            let request = PaginatedRequestParams::default().with_cursor(cursor);
            let (page, next) = of(&items, Some(request), 10).expect("a page");
            all.extend_from_slice(page);
            cursor = next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(all, items);
        for foreign in ["", "x", "-10", "7", "99999999999999999999"] {
            let request = PaginatedRequestParams::default().with_cursor(Some(foreign.to_owned()));
            assert!(of(&items, Some(request), 10).is_err(), "{foreign}");
        }
    }
}
