//! Extra fields of zip headers (4.5).

use super::super::bytes::{u16_at, u64_at};
use crate::refusal::Refusal;

const ZIP64: u16 = 0x0001;
const UNICODE_PATH: u16 = 0x7075;

/// Returns the zip64 field among the extra fields of `name`, if there is one.
pub(super) fn zip64<'a>(mut fields: &'a [u8], name: &str) -> Result<Option<&'a [u8]>, Refusal> {
    let malformed = |what: &str| Refusal::Malformed(format!("`{name}`: {what}"));
    let mut found = None;
    while !fields.is_empty() {
        let bad = || malformed("an extra field does not fit into its space");
        let (head, rest) = fields.split_at_checked(4).ok_or_else(bad)?;
        let (data, rest) = rest.split_at_checked(u16_at(head, 2).into()).ok_or_else(bad)?;
        fields = rest;
        match u16_at(head, 0) {
            UNICODE_PATH => {
                return Err(Refusal::Unsupported {
                    name: name.to_owned(),
                    feature: "a second name in an extra field".to_owned(),
                });
            }
            ZIP64 if found.is_some() => return Err(malformed("there are two zip64 fields")),
            ZIP64 => found = Some(data),
            _ => {}
        }
    }
    Ok(found)
}

/// Replaces each value whose bits are all ones with the next eight bytes of the zip64 field (4.5.3). Returns
/// the rest of the field.
pub(super) fn widen<'a, const N: usize>(
    values: [u32; N],
    field: Option<&'a [u8]>,
    name: &str,
) -> Result<([u64; N], &'a [u8]), Refusal> {
    let mut rest = field.unwrap_or_default();
    let mut wide = [0; N];
    for (wide, value) in wide.iter_mut().zip(values) {
        *wide = value.into();
        if value == u32::MAX {
            let Some((eight, after)) = rest.split_at_checked(8) else {
                return Err(Refusal::Malformed(format!("`{name}`: the zip64 field is too short")));
            };
            *wide = u64_at(eight, 0);
            rest = after;
        }
    }
    Ok((wide, rest))
}

/// Refuses a zip64 field with values left over: the header does not ask for them.
pub(super) fn check_used_up(rest: &[u8], name: &str) -> Result<(), Refusal> {
    if rest.is_empty() {
        return Ok(());
    }
    Err(Refusal::Malformed(format!("`{name}`: the zip64 field is too long")))
}
