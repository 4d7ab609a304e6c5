//! Valid archives, as common programs write them.

use std::io::Write;

use super::super::{open, open_tar_gz, open_zip};
use super::{Files, files, parts, shared};
use crate::refusal::{Limits, Refusal};
use crate::tree::{Node, ReadError};
use skillpm_testing::archive::{deflated, link, member, pax, stored, tar, zip, zip_with};

fn read(bytes: &[u8]) -> Files {
    files(bytes, &Limits::default()).expect("accepted")
}

fn names(bytes: &[u8]) -> Vec<String> {
    read(bytes).into_keys().collect()
}

#[test]
fn zc02_the_comment_is_the_commit() {
    let commit = "0123456789abcdef0123456789abcdef01234567";
    let bytes = zip_with(
        &[stored("r-0123/", "").mode(0o040_755), deflated("r-0123/SKILL.md", "x")],
        commit.as_bytes(),
        &[],
    );
    let archive = open(shared(&bytes), &Limits::default()).expect("accepted");
    assert_eq!(archive.comment.as_deref(), Some(commit));
    assert_eq!(archive.tree.without_wrapper().read("SKILL.md", 9).expect("reads"), b"x");
    let bytes = tar(&[pax(b'g', &[("comment", commit)]), member(b'0', "SKILL.md", "x")]);
    let archive = open(shared(&bytes), &Limits::default()).expect("accepted");
    assert_eq!(archive.comment.as_deref(), Some(commit));
    for comment in [&b"a\0b"[..], b"\xFF", b""] {
        let bytes = zip_with(&[], comment, &[]);
        assert_eq!(open_zip(shared(&bytes), &Limits::default()).expect("accepted").comment, None);
    }
}

#[test]
fn zc07_odd_names_are_for_the_skill_to_judge() {
    let odd =
        ["a (1)/b+c.md", "-rf", ".hidden", "xy:z", ".git/config", "CON", "e\u{301}", "SKILL.md", "skill.md"];
    let zipped: Vec<_> = odd.iter().map(|name| stored(name, "x")).collect();
    let tarred: Vec<_> = odd.iter().map(|name| member(b'0', name, "x")).collect();
    let mut sorted = odd.map(str::to_owned);
    sorted.sort();
    assert_eq!(names(&zip(&zipped)), sorted);
    assert_eq!(names(&tar(&tarred)), sorted);
}

/// As written by `tar -C dir .` and similar commands.
#[test]
fn a_directory_packed_from_inside() {
    for root in ["./", ".", "././"] {
        let members = [member(b'5', root, ""), member(b'0', "./SKILL.md", "x"), member(b'0', "././a/b", "y")];
        assert_eq!(names(&tar(&members)), ["SKILL.md", "a/b"]);
    }
    // The header holds the start of a long name.
    let long = format!("./{}", "d/".repeat(60) + "f");
    let bytes = tar(&[pax(b'x', &[("path", &long)]), member(b'0', &long[..100], "")]);
    assert_eq!(names(&bytes), [&long[2..]]);
    let bytes = zip(&[stored("./", "").mode(0o040_755), stored("./SKILL.md", "x"), deflated("./a/b", "y")]);
    assert_eq!(names(&bytes), ["SKILL.md", "a/b"]);
}

#[test]
fn types_and_modes_are_what_the_archive_says() {
    let file = |executable, content: &str| {
        (Node::File { executable, size: content.len() as u64 }, content.as_bytes().to_vec())
    };
    let bytes = zip(&[
        stored("d/", "").mode(0o040_755),
        stored("a", "1").mode(0o100_640),
        deflated("setuid", "2").mode(0o106_755),
        stored("bare", "3").mode(0o644),
        stored("dos", "4").mode(0o120_777).central(5, [0]),
        stored("fifo", "").mode(0o010_644),
        stored("link", "../a").mode(0o120_777),
    ]);
    let expected = [
        ("a", file(false, "1")),
        ("bare", file(false, "3")),
        ("dos", file(false, "4")),
        ("fifo", (Node::Special("a named pipe"), vec![])),
        ("link", (Node::Symlink, b"../a".to_vec())),
        ("setuid", file(true, "2")),
    ];
    assert_eq!(read(&bytes), expected.map(|(name, file)| (name.to_owned(), file)).into());
    let bytes = tar(&[
        member(b'5', "d/", "").mode(0o755),
        member(b'0', "d/setuid", "2").mode(0o4755),
        link(b'2', "d/link", "setuid"),
    ]);
    let expected = [("d/link", (Node::Symlink, b"setuid".to_vec())), ("d/setuid", file(true, "2"))];
    assert_eq!(read(&bytes), expected.map(|(name, file)| (name.to_owned(), file)).into());
}

/// As written by Java, which streams, and Python, which does not.
#[test]
fn directories_may_be_deflated() {
    let directory = || deflated("d/", "").mode(0o040_755);
    for directory in [directory(), directory().streamed()] {
        assert_eq!(names(&zip(&[directory, stored("d/f", "x")])), ["d/f"]);
    }
}

#[test]
fn zip64_is_read_where_it_is_consistent() {
    let wide_sizes = |size: u64| [&[1, 0, 16, 0][..], &size.to_le_bytes(), &size.to_le_bytes()].concat();
    // Python writes this for a stream, with plain sizes in the directory.
    let entry = stored("a", "12345").local(18, [0xFF; 8]).local_extra(wide_sizes(5));
    assert_eq!(names(&zip(&[entry])), ["a"]);
    let streamed =
        stored("a", "12345").flags(8).local(14, [0; 4]).local(18, [0xFF; 8]).local_extra(wide_sizes(0));
    let crc = crc32fast::hash(b"12345").to_le_bytes();
    let sizes = [5_u64.to_le_bytes(), 5_u64.to_le_bytes()].concat();
    let streamed = streamed.behind([&b"PK\x07\x08"[..], &crc, &sizes].concat());
    assert_eq!(names(&zip(&[streamed, stored("b", "")])), ["a", "b"]);
    // For a file that it streams, Info-ZIP knows the size, but not yet the packed size.
    let half = deflated("a", "12345").streamed().local(22, 5_u32.to_le_bytes());
    assert_eq!(names(&zip(&[half])), ["a"]);
    let offset = [&[1, 0, 8, 0][..], &0_u64.to_le_bytes()].concat();
    assert_eq!(names(&zip(&[stored("a", "").central(42, [0xFF; 4]).central_extra(offset)])), ["a"]);
}

#[test]
fn entries_may_be_listed_in_any_order() {
    let at = |offset: u32| offset.to_le_bytes();
    // The records are swapped: each has the name, size and checksum of the other.
    let (a, b) = (stored("a", "xy"), stored("b", "xy"));
    let bytes = zip(&[a.central(46, "b").central(42, at(33)), b.central(46, "a").central(42, at(0))]);
    assert_eq!(names(&bytes), ["a", "b"]);
}

#[test]
fn long_names_in_tar() {
    let long = format!("{}/{}", "d".repeat(150), "f".repeat(90));
    let bytes = tar(&[
        member(b'0', "f".repeat(90), "1").patch(345, "d".repeat(150)),
        pax(b'x', &[("mtime", "1.5"), ("path", "é/π"), ("size", "1")]),
        member(b'0', "__", "2"),
        pax(b'x', &[("linkpath", &"../t".repeat(40))]),
        link(b'2', "l", "../t../t"),
    ]);
    assert_eq!(names(&bytes), [long.as_str(), "l", "é/π"]);
    assert_eq!(read(&bytes)["l"].1, "../t".repeat(40).as_bytes());
}

#[test]
fn empty_archives_are_empty() {
    assert_eq!(names(&zip(&[])), <[&str; 0]>::default());
    let parts =
        super::super::tar::open(shared(&tar(&[])), &Limits::default(), "a tar archive").expect("accepted");
    assert!(parts.entries.is_empty());
}

#[test]
fn one_archive_is_read_from_several_threads() {
    let content: Vec<u8> = (0..400_000_u32).flat_map(u32::to_le_bytes).collect();
    let entries: Vec<_> = ["a", "b", "c", "d"].map(|name| deflated(name, &content)).into();
    let archive = open(shared(&zip(&entries)), &Limits::default()).expect("accepted");
    std::thread::scope(|scope| {
        for name in ["a", "b", "c", "d"] {
            let (archive, content) = (&archive, &content);
            scope.spawn(move || assert!(archive.tree.read(name, 1 << 24).expect("reads") == *content));
        }
    });
}

/// A sink that reads another entry while it is written to.
struct Nested<'a>(&'a super::Parts, Vec<u8>);

impl Write for Nested<'_> {
    fn write(&mut self, buf: &[u8]) -> std::io::Result<usize> {
        self.0.content.copy_to(1, &mut self.1).expect("reads");
        Ok(buf.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_sink_may_read_from_the_same_archive() {
    let parts =
        parts(&zip(&[deflated("a", "outer"), deflated("b", "inner")]), &Limits::default()).expect("fine");
    let mut nested = Nested(&parts, Vec::new());
    parts.content.copy_to(0, &mut nested).expect("reads");
    assert_eq!(nested.1, b"inner");
}

#[test]
fn what_is_no_archive_is_named() {
    let cases: &[(&[u8], &str)] = &[
        (b"", "an empty file"),
        (b"<!DOCTYPE html>", "an HTML page"),
        (b"{}", "JSON"),
        (b"hello\n", "a text file"),
    ];
    for (bytes, found) in cases {
        for (result, expected) in [
            (open(shared(bytes), &Limits::default()), "a zip, tar or tar.gz archive"),
            (open_zip(shared(bytes), &Limits::default()), "a zip archive"),
            (open_tar_gz(&shared(bytes), &Limits::default()), "a gzip file"),
        ] {
            let Err(ReadError::Refused(refusal)) = result else { panic!("accepted") };
            assert_eq!(refusal, Refusal::NotAnArchive { expected, found });
        }
    }
}
