//! One hostile zip archive for each refusal.

use super::{assert_refused, refusal, refusal_within};
use crate::path::PathError;
use crate::refusal::{Limits, Refusal};
use skillpm_testing::archive::{ZipEntry, deflate, deflated, stored, zip, zip_with};

fn one(entry: ZipEntry) -> Vec<u8> {
    zip(&[entry])
}

fn malformed(what: &str) -> Refusal {
    Refusal::Malformed(what.to_owned())
}

#[test]
fn names() {
    let named = |id, name: &'static str, reason| {
        let refusal = Refusal::Name { name: name.trim_end_matches('/').to_owned(), reason };
        (id, one(stored(name, "")), refusal)
    };
    assert_refused(vec![
        named("zn01 dotdot", "../x", PathError::Dots),
        named("zn03 dotdot after the wrapper", "r/../x", PathError::Dots),
        named("dot in a name", "a/./x", PathError::Dots),
        named("a file at the root", ".", PathError::Dots),
        named("dotdot behind dots", "././../x", PathError::Dots),
        (
            "one name with a dot and without",
            zip(&[stored("a", "1"), stored("./a", "2")]),
            Refusal::Duplicate("a".into()),
        ),
        named("zn05 absolute", "/etc/passwd", PathError::Absolute),
        named("drive", "C:/x", PathError::Colon),
        named("drive without a slash", "c:x", PathError::Colon),
        named("zn08 backslash", "..\\..\\x", PathError::Backslash),
        named("zn11 NUL", "SKILL.md\0.txt", PathError::Invisible(0)),
        named("zn12 newline", "a\nb", PathError::Invisible(10)),
        named("zn12 escape", "a\x1B[2J", PathError::Invisible(27)),
        named("delete", "a\x7F", PathError::Invisible(127)),
        named("empty", "", PathError::Empty),
        named("empty component", "a//b", PathError::Empty),
        ("not UTF-8", one(stored(b"a\x82", "")), Refusal::NameEncoding("a\u{fffd}".into())),
        (
            "zn24 two normal forms",
            zip(&[stored("é", ""), stored("e\u{301}", "")]),
            Refusal::Collision("e\u{301}".into(), "é".into()),
        ),
        ("zs01 twice", zip(&[stored("a", "1"), stored("a", "2")]), Refusal::Duplicate("a".into())),
        (
            "zl02 below a link",
            zip(&[stored("a", "..").mode(0o120_777), stored("a/b", "")]),
            Refusal::FileAndDirectory("a".into()),
        ),
        (
            "file and directory",
            zip(&[stored("a", ""), stored("a/", "").mode(0o040_755)]),
            Refusal::FileAndDirectory("a".into()),
        ),
        (
            "a directory by its mode alone",
            one(stored("a", "").mode(0o040_755)),
            Refusal::FileAndDirectory("a".into()),
        ),
        (
            "a link by its mode, a directory by its name",
            one(stored("a/", "").mode(0o120_777)),
            Refusal::FileAndDirectory("a/".into()),
        ),
    ]);
}

#[test]
fn links_and_pipes_are_refused_by_the_skill() {
    let skill = |entry: ZipEntry| {
        let bytes = zip(&[stored("SKILL.md", "x"), entry]);
        let archive = super::super::open(super::shared(&bytes), &Limits::default()).expect("opens");
        match archive.tree.skill("", &Limits::default()) {
            Err(crate::tree::ReadError::Refused(refusal)) => refusal,
            other => panic!("{other:?}"),
        }
    };
    let link = |target: &str| skill(stored("l", target).mode(0o120_777));
    for (id, target) in
        [("zl01 absolute", "/etc/passwd"), ("zl04 outside", "../../x"), ("zl07 directory", ".")]
    {
        assert_eq!(link(target), Refusal::Symlink("l".into()), "{id}");
    }
    let pipe = Refusal::SpecialFile { name: "p".into(), kind: "a named pipe" };
    assert_eq!(skill(stored("p", "").mode(0o010_644)), pipe, "zl14");
}

#[test]
fn headers_that_differ() {
    let differ = |id, entry, field| (id, one(entry), Refusal::HeaderMismatch { name: "abc".into(), field });
    let a = || stored("abc", "12345");
    assert_refused(vec![
        differ("zs03 name", a().local(30, "abd"), "name"),
        differ("zs03 shorter name", a().local(26, [2, 0]).local(28, [1, 0]), "name"),
        differ("flags", a().local(6, [2, 0]), "flags"),
        differ("a descriptor that only the directory knows of", a().central(8, [8, 0]), "flags"),
        differ("method", deflated("abc", "12345").local(8, [0, 0]), "compression method"),
        differ("checksum", a().local(14, [1, 2, 3, 4]), "checksum"),
        differ("size", a().local(22, [4]), "size"),
        differ("packed size", deflated("abc", "12345").local(18, [4]), "size"),
        differ(
            "descriptor",
            a().streamed().behind("").local(14, [0; 4]).local(28, [0; 2]).central(16, [9]),
            "data descriptor",
        ),
        differ(
            "descriptor without its signature",
            a().flags(8).local(14, [0; 12]).behind([0; 16]),
            "data descriptor",
        ),
    ]);
}

#[test]
fn structure() {
    let a = || stored("a", "12345");
    let good = zip(&[a(), stored("b", "")]);
    let at_end = |at, bytes: &[u8]| zip_with(&[a()], b"", &[(at, bytes.to_vec())]);
    let stray = Refusal::StrayBytes;
    let count = "its directory holds fewer entries than it declares";
    let several = "it is one part of an archive in several files";
    assert_refused(vec![
        (
            "zs05 hidden entry",
            zip(&[a(), stored("h", "").unlisted(), stored("b", "")]),
            stray("between or after the entries"),
        ),
        (
            "hidden entry at the end",
            zip(&[a(), stored("h", "").unlisted()]),
            stray("between or after the entries"),
        ),
        (
            "hidden entry at the start",
            zip(&[stored("h", "").unlisted(), a()]),
            stray("in front of the first entry"),
        ),
        ("nothing but a hidden entry", one(a().unlisted()), stray("in front of the first entry")),
        (
            "bytes behind content",
            zip(&[a().behind("x"), stored("b", "")]),
            stray("between or after the entries"),
        ),
        (
            "bytes in front",
            [b"#!/bin/sh\n", &good[..]].concat(),
            stray("in front of it, or around its directory"),
        ),
        ("bytes behind", [&good[..], b"x"].concat(), stray("after its end")),
        (
            "zs13 two archives",
            [&good[..], &good[..]].concat(),
            stray("in front of it, or around its directory"),
        ),
        ("zs12 archive in the comment", zip_with(&[a()], &good, &[]), Refusal::SecondArchive("its comment")),
        (
            "end record in the comment",
            zip_with(&[a()], b"PK\x05\x06", &[]),
            Refusal::SecondArchive("its comment"),
        ),
        (
            "zs18 half",
            good[..good.len() / 2].to_vec(),
            Refusal::Truncated("its directory of entries is missing"),
        ),
        (
            "comment cut off",
            zip_with(&[], b"", &[(20, vec![1])]),
            Refusal::Truncated("its comment is incomplete"),
        ),
        (
            "directory behind the end",
            at_end(16, &[99]),
            Refusal::Truncated("its directory of entries is after its end"),
        ),
        (
            "more entries than counted",
            zip_with(&[a(), stored("b", "")], b"", &[(8, vec![1, 0, 1, 0])]),
            malformed(count),
        ),
        ("fewer entries than counted", at_end(8, &[2, 0, 2, 0]), malformed(count)),
        ("many disks", at_end(4, &[1]), malformed(several)),
        ("two counts", at_end(8, &[0]), malformed(several)),
        (
            "an entry on another disk",
            one(a().central(34, [1])),
            malformed("`a`: this entry starts in another file"),
        ),
        ("no local header", one(a().local(0, "PKxx")), malformed("`a`: this entry has no header")),
        ("a directory with content", one(stored("d/", "x")), malformed("`d/`: this directory has content")),
        (
            "and a deflated one",
            one(deflated("d/", "x").mode(0o040_755)),
            malformed("`d/`: this directory has content"),
        ),
        (
            "a directory with what is no stream of nothing",
            one(stored("d/", "xy").mode(0o040_755).both(8, [8, 0]).both(14, [0; 4]).both(22, [0; 4])),
            malformed("`d/`: this directory has content"),
        ),
        ("zb04 overlap", zip(&[a(), stored("b", "12345").central(42, [0; 4])]), Refusal::Overlap("b".into())),
        ("overlap inside", zip(&[a(), stored("b", "").central(42, [5])]), Refusal::Overlap("b".into())),
        ("into the directory", one(deflated("a", "").both(18, [99])), Refusal::Overlap("a".into())),
    ]);
}

#[test]
fn extra_fields() {
    let a = || stored("a", "12345");
    let second_name =
        Refusal::Unsupported { name: "a".into(), feature: "a second name in an extra field".into() };
    let path = b"\x75\x70\x05\x00\x01\0\0\0\0";
    let cut = "`a`: an extra field does not fit into its space";
    let wide = |values: &[u64]| {
        let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        [&[1, 0, u8::try_from(data.len()).expect("short"), 0][..], &data].concat()
    };
    let long = "`a`: the zip64 field is too long";
    assert_refused(vec![
        ("zs10 in the directory", one(a().central_extra(path)), second_name.clone()),
        ("zs11 in the local header", one(a().local_extra(path)), second_name),
        ("three bytes", one(a().central_extra([1, 1, 0])), malformed(cut)),
        ("longer than its space", one(a().local_extra([1, 1, 2, 0, 0])), malformed(cut)),
        ("zip64 that is not asked for", one(a().central_extra(wide(&[5]))), malformed(long)),
        ("the same in the local header", one(a().local_extra(wide(&[5]))), malformed(long)),
        ("zip64 missing", one(a().central(24, [0xFF; 4])), malformed("`a`: the zip64 field is too short")),
        (
            "two zip64 fields",
            one(a().central_extra(wide(&[])).central_extra(wide(&[]))),
            malformed("`a`: there are two zip64 fields"),
        ),
        (
            "zs25 16 EiB",
            one(deflated("a", "x").both(22, [0xFF; 4]).central_extra(wide(&[u64::MAX]))),
            Refusal::TooLarge { size: u64::MAX, limit: Limits::default().archive_content },
        ),
    ]);
}

#[test]
fn zip64_end_records() {
    let entries = one(stored("a", "12345"));
    let (body, end) = entries.split_at(entries.len() - 22);
    let build = |record: &[(usize, u8)], locator: &[(usize, u8)]| {
        let mut wide = [&b"PK\x06\x06"[..], &44_u64.to_le_bytes(), &[45, 3, 45, 0], &[0; 8]].concat();
        for value in [1, 1, 47, body.len() as u64 - 47] {
            wide.extend(u64::to_le_bytes(value));
        }
        let mut place =
            [&b"PK\x06\x07\0\0\0\0"[..], &(body.len() as u64).to_le_bytes(), &[1, 0, 0, 0]].concat();
        for (bytes, patches) in [(&mut wide, record), (&mut place, locator)] {
            for (at, byte) in patches {
                bytes[*at] = *byte;
            }
        }
        [body, &wide, &place, end].concat()
    };
    assert_eq!(refusal(&build(&[], &[])), None);
    let wrong = |what| malformed(&format!("its zip64 end record {what}"));
    assert_refused(vec![
        ("another length", build(&[(4, 45)], &[]), wrong("has an unknown length")),
        ("another count", build(&[(24, 2), (32, 2)], &[]), wrong("contradicts the one after it")),
        ("no record", build(&[(0, 0)], &[]), wrong("is not where it belongs")),
        ("elsewhere", build(&[], &[(8, 1)]), wrong("is not where its locator says")),
        ("disks", build(&[], &[(16, 2)]), malformed("it is one part of an archive in several files")),
    ]);
}

#[test]
fn content() {
    let big = vec![0; 40 << 20];
    let lying = deflated("a", &big).both(22, 10_u32.to_le_bytes().as_slice());
    let wrong = |actual, declared| Refusal::SizeMismatch { name: "a".into(), declared, actual };
    let encrypted = Refusal::Encrypted("a".into());
    let unsupported = |feature: &str| Refusal::Unsupported { name: "a".into(), feature: feature.into() };
    let packed = |bytes: Vec<u8>| {
        let (size, crc) = (1_u32.to_le_bytes(), crc32fast::hash(b"x").to_le_bytes());
        stored("a", bytes).both(8, [8, 0]).both(22, size).both(14, crc)
    };
    assert_eq!(refusal(&one(packed(deflate(b"x")))), None);
    assert_refused(vec![
        ("zs08 checksum", one(stored("a", "x").both(14, [0; 4])), Refusal::BadChecksum("a".into())),
        (
            "checksum of deflated content",
            one(deflated("a", "x").both(14, [0; 4])),
            Refusal::BadChecksum("a".into()),
        ),
        ("zb03 more than declared", one(lying), wrong(11, 10)),
        ("less than declared", one(deflated("a", "x").both(22, [2])), wrong(1, 2)),
        ("stored in two sizes", one(stored("a", "x").both(22, [2])), wrong(1, 2)),
        ("damaged", one(packed(vec![0xFF; 8])), Refusal::BadData("a".into())),
        ("no end", one(packed(vec![0x4B])), Refusal::BadData("a".into())),
        (
            "bytes behind the stream",
            one(packed([deflate(b"x"), vec![0]].concat())),
            Refusal::BadData("a".into()),
        ),
        ("zs30 encrypted", one(stored("a", "").flags(1)), encrypted.clone()),
        ("strong encryption", one(stored("a", "").flags(0x40)), encrypted.clone()),
        ("masked headers", one(stored("a", "").flags(0x2000)), encrypted),
        ("patch data", one(stored("a", "").flags(0x20)), unsupported("the feature of the flags 0x0020")),
        ("zs32 method", one(stored("a", "").both(8, [12, 0])), unsupported("compression method 12")),
    ]);
}

#[test]
fn limits() {
    let few = |limits: Limits| move |bytes: &[u8]| refusal_within(bytes, &limits);
    let bomb = one(deflated("a", vec![0; 48 << 20]));
    assert!(matches!(refusal(&bomb), Some(Refusal::Ratio { ratio: 201.., limit: 200, .. })), "zb01");
    let small = one(deflated("a", vec![0; 1 << 20]));
    assert_eq!(refusal(&small), None, "up to a mebibyte the ratio does not matter");
    let entries: Vec<_> = (0..20).map(|number| stored(number.to_string(), "12345")).collect();
    let many = zip(&entries);
    let limited = few(Limits { archive_entries: 19, ..Limits::default() });
    assert_eq!(limited(&many), Some(Refusal::TooManyEntries { count: 20, limit: 19 }), "zb02");
    let limited = few(Limits { archive_content: 98, ..Limits::default() });
    assert_eq!(limited(&many), Some(Refusal::TooLarge { size: 100, limit: 98 }));
    let limited = few(Limits { archive_bytes: 99, ..Limits::default() });
    assert_eq!(limited(&many), Some(Refusal::ArchiveTooLarge(99)));
    let long: Vec<_> = (0..8).map(|number| stored(format!("{number}{}", "x".repeat(60_000)), "")).collect();
    assert_eq!(refusal(&zip(&long)), Some(malformed("its directory is too large for its entries")));
}
