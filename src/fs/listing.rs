//! What lies in a large directory, in order.

use std::ffi::OsString;
use std::io;

use super::{Base, Kind, PathError};
use crate::text::order_of;

/// The names in a directory, sorted by their bytes, and what each of them is. They lie in one text, so that
/// thousands of them are no thousands of allocations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    text: String,
    entries: Vec<Entry>,
    /// The places of all entries, in the order of their numbers in the file system.
    tour: Vec<u32>,
    /// Names that are no text, sorted. They are no entries.
    odd: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    start: u32,
    length: u32,
    kind: Kind,
}

impl Listing {
    /// How many names there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The name at `at` and what it is; `None` behind the last one.
    pub fn get(&self, at: usize) -> Option<(&str, Kind)> {
        let Entry { start, length, kind } = *self.entries.get(at)?;
        let start = start as usize;
        Some((self.text.get(start..start + length as usize)?, kind))
    }

    /// All names, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Kind)> {
        (0..self.len()).map_while(|at| self.get(at))
    }

    /// The places of all names, in the order in which looking at each takes least. A file system keeps together
    /// what it made together, and so does the kernel: in the order of names thousands of looks go to and fro
    /// in memory, or on a disk.
    pub fn tour(&self) -> &[u32] {
        &self.tour
    }

    /// Makes `tour` the order of [`Listing::tour`]; `false`, and nothing changes, if it has not each place once.
    pub fn set_tour(&mut self, tour: Vec<u32>) -> bool {
        let mut is_open = vec![true; self.len()];
        let is_new = |at: &u32| is_open.get_mut(*at as usize).is_some_and(std::mem::take);
        let is_whole = tour.len() == self.len() && tour.iter().all(is_new);
        if is_whole {
            self.tour = tour;
        }
        is_whole
    }

    /// The names that are not UTF-8, in order, as they were when the directory was read.
    pub fn odd(&self) -> &[OsString] {
        &self.odd
    }

    /// What the entry called `name` is; `None` where there is none.
    pub fn kind_of(&self, name: &str) -> Option<Kind> {
        let bytes = self.text.as_bytes();
        let name_of = |entry: &Entry| &bytes[entry.start as usize..(entry.start + entry.length) as usize];
        let found = self.entries.binary_search_by(|entry| name_of(entry).cmp(name.as_bytes()));
        found.ok().map(|at| self.entries[at].kind)
    }

    /// Whether a directory of that name is there, or a link, which may lead to one.
    pub fn may_lead_on(&self, name: &str) -> bool {
        matches!(self.kind_of(name), Some(Kind::Directory | Kind::Symlink))
    }

    /// Adds a name, which has to come after all that are there; `false`, and nothing is added, if it does not.
    pub fn push(&mut self, name: &str, kind: Kind) -> bool {
        let is_next = self
            .entries
            .len()
            .checked_sub(1)
            .and_then(|last| self.get(last))
            .is_none_or(|(last, _)| last < name);
        is_next && self.add(name, kind)
    }

    fn add(&mut self, name: &str, kind: Kind) -> bool {
        let (Ok(start), Ok(length)) = (u32::try_from(self.text.len()), u32::try_from(name.len())) else {
            return false;
        };
        // No more than there are bytes.
        self.tour.push(u32::try_from(self.len()).unwrap_or_default());
        self.text.push_str(name);
        self.entries.push(Entry { start, length, kind });
        true
    }

    /// Puts the names into order, and the tour into that of `numbers`, which are those of the entries.
    fn sort(&mut self, numbers: &[u64]) {
        let bytes = self.text.as_bytes();
        let name = |at: usize| {
            let Entry { start, length, .. } = self.entries[at];
            &bytes[start as usize..(start + length) as usize]
        };
        let mut numbered: Vec<_> = numbers.iter().copied().zip(0_usize..).collect();
        // Many file systems list them in this order already, or in the opposite one.
        numbered.sort_unstable();
        let order = order_of(self.len(), name);
        // Whoever goes through them in order goes through the text in order, too.
        let mut sorted = Self {
            text: String::with_capacity(self.text.len()),
            entries: Vec::with_capacity(order.len()),
            tour: Vec::with_capacity(order.len()),
            odd: std::mem::take(&mut self.odd),
        };
        sorted.odd.sort_unstable();
        let mut places = vec![0; order.len()];
        for (place, at) in (0..).zip(order) {
            let Entry { start, length, kind } = self.entries[at];
            let name = self.text.get(start as usize..(start + length) as usize).unwrap_or_default();
            sorted.add(name, kind);
            places[at] = place;
        }
        sorted.set_tour(numbered.into_iter().map(|(_, at)| places[at]).collect());
        *self = sorted;
    }
}

impl Base {
    /// Returns the names in this directory. Those that are not UTF-8 cannot be names of ours: they stand apart.
    ///
    /// # Errors
    ///
    /// Where it cannot be read.
    pub fn listing(&self) -> Result<Listing, PathError> {
        let mut listing = Listing::default();
        let mut numbers = Vec::new();
        let mut odd = Vec::new();
        let add = |name: &str, kind, number| {
            if listing.add(name, kind) {
                numbers.push(number);
            }
        };
        self.each_name(add, |name| odd.push(name)).map_err(self.failed("read", ""))?;
        listing.odd = odd;
        listing.sort(&numbers);
        Ok(listing)
    }

    /// Calls `add` for each name, with what it stands for and the number that this has in the file system, and `odd`
    /// for what is not UTF-8.
    #[cfg(target_os = "linux")]
    fn each_name(
        &self,
        mut add: impl FnMut(&str, Kind, u64),
        mut odd: impl FnMut(OsString),
    ) -> io::Result<()> {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt as _;
        use std::path::Path;

        use rustix::fs::{AtFlags, FileType, RawDir, statat};

        use super::handle::directory;

        // Of its own: handles share the place up to which was read.
        let dir = directory(self.handle(), Path::new("."))?;
        let mut buffer = Vec::with_capacity(64 << 10);
        let mut entries = RawDir::new(&dir, buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else {
                odd(OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
                continue;
            };
            if matches!(name, "." | "..") {
                continue;
            }
            let file_type = match entry.file_type() {
                // The file system does not say at once. What cannot be looked at hides none of the others.
                FileType::Unknown => statat(&dir, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
                known => known,
            };
            add(
                name,
                match file_type {
                    FileType::RegularFile => Kind::File,
                    FileType::Directory => Kind::Directory,
                    FileType::Symlink => Kind::Symlink,
                    _ => Kind::Other,
                },
                entry.ino(),
            );
        }
        Ok(())
    }

    /// Calls `add` for each name, with what it stands for and the number that this has in the file system, and `odd`
    /// for what is not UTF-8.
    #[cfg(not(target_os = "linux"))]
    fn each_name(
        &self,
        mut add: impl FnMut(&str, Kind, u64),
        mut odd: impl FnMut(OsString),
    ) -> io::Result<()> {
        for entry in std::fs::read_dir(self.path())? {
            let entry = entry?;
            #[cfg(unix)]
            let number = std::os::unix::fs::DirEntryExt::ino(&entry);
            // Without numbers they stay in the order in which they are listed.
            #[cfg(not(unix))]
            let number = 0;
            match entry.file_name().into_string() {
                Ok(name) => add(&name, entry.file_type().map_or(Kind::Other, Kind::from), number),
                Err(name) => odd(name),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn names_are_in_the_order_of_their_bytes() {
        let dir = tempfile::tempdir().expect("a directory");
        let numbered = |number| format!("a-long-name-that-is-shared-by-many-{number}");
        let long: Vec<_> = [21, 1, 20, 3, 2].map(numbered).into();
        let mut names = vec!["b", "a", "0123456789abcdefg", "0123456789abcdef", "0123456789abcde", "é", "ab"];
        names.extend(long.iter().map(String::as_str));
        for name in &names {
            fs::create_dir(dir.path().join(name)).expect("creates");
        }
        fs::write(dir.path().join("file"), "").expect("writes");
        let base = Base::open(dir.path()).expect("opens");
        let listing = base.listing().expect("lists");
        let mut expected: Vec<_> = names.iter().map(|name| (*name, Kind::Directory)).collect();
        expected.push(("file", Kind::File));
        expected.sort_unstable_by_key(|(name, _)| *name);
        assert_eq!(listing.iter().collect::<Vec<_>>(), expected);
        assert_eq!(base.listing().expect("lists"), listing, "from its start each time");
        assert!(names.iter().all(|name| listing.may_lead_on(name)));
        assert!(!listing.may_lead_on("file") && !listing.may_lead_on("c"));
        assert_eq!((listing.kind_of("file"), listing.kind_of("c")), (Some(Kind::File), None));
    }

    /// The tour goes through all of them once, in the order in which they were made where numbers tell it.
    #[cfg(unix)]
    #[test]
    fn a_tour_is_in_the_order_of_the_file_system() {
        use std::os::unix::fs::MetadataExt as _;
        let dir = tempfile::tempdir().expect("a directory");
        for number in [3, 1, 4, 15, 9, 2, 6] {
            fs::write(dir.path().join(format!("{number}")), "").expect("writes");
        }
        let listing = Base::open(dir.path()).expect("opens").listing().expect("lists");
        let inode = |at: &u32| {
            let (name, _) = listing.get(*at as usize).expect("a place");
            fs::metadata(dir.path().join(name)).expect("there").ino()
        };
        assert!(listing.tour().is_sorted_by_key(inode), "{:?}", listing.tour());
        let mut places = listing.tour().to_vec();
        places.sort_unstable();
        assert_eq!(places, [0, 1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn a_tour_has_each_place_once() {
        let mut listing = Listing::default();
        assert!(listing.push("a", Kind::File) && listing.push("b", Kind::File));
        assert_eq!(listing.tour(), [0, 1]);
        for tour in [vec![], vec![0], vec![0, 0], vec![0, 2], vec![0, 1, 1]] {
            assert!(!listing.set_tour(tour));
        }
        assert_eq!(listing.tour(), [0, 1]);
        assert!(listing.set_tour(vec![1, 0]));
        assert_eq!(listing.tour(), [1, 0]);
    }

    #[test]
    fn only_what_comes_next_is_added() {
        let mut listing = Listing::default();
        assert!(listing.push("a", Kind::File) && listing.push("b", Kind::Directory));
        for name in ["b", "a", ""] {
            assert!(!listing.push(name, Kind::File));
        }
        assert_eq!(listing.get(1), Some(("b", Kind::Directory)));
        assert_eq!((listing.len(), listing.get(2)), (2, None));
    }
}
