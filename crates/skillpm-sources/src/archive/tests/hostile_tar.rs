//! One hostile tar archive for each refusal.

use super::{assert_refused, refusal, refusal_within};
use crate::path::PathError;
use crate::refusal::{Limits, Refusal};
use skillpm_testing::archive::{Member, gzip, link, member, pax, tar};

fn file(name: &str) -> Member {
    member(b'0', name, "12345")
}

fn malformed(what: &str) -> Refusal {
    Refusal::Malformed(what.to_owned())
}

#[test]
fn names() {
    let refused = |name: &str, reason| Refusal::Name { name: name.into(), reason };
    let named = |id, name: &str, reason| (id, tar(&[file(name)]), refused(name, reason));
    let extended = |name: &str| tar(&[pax(b'x', &[("path", name)]), file("x")]);
    assert_refused(vec![
        named("tt01 dotdot", "../x", PathError::Dots),
        named("dot in a name", "a/./x", PathError::Dots),
        named("a file at the root", ".", PathError::Dots),
        named("dotdot behind dots", "././../x", PathError::Dots),
        named("absolute behind a dot", ".//x", PathError::Absolute),
        ("a link at the root", tar(&[link(b'2', ".", "x")]), refused(".", PathError::Dots)),
        (
            "dot as a prefix",
            tar(&[file("x").patch(345, ".")]),
            malformed("`x`: a prefix that is not a directory"),
        ),
        (
            "dot in the pax header alone",
            extended("./x"),
            Refusal::HeaderMismatch { name: "./x".into(), field: "name" },
        ),
        ("one name with a dot and without", tar(&[file("a"), file("./a")]), Refusal::Duplicate("a".into())),
        ("two roots", tar(&[member(b'5', "./", ""), member(b'5', ".", "")]), Refusal::Duplicate(".".into())),
        (
            "a file with a dot below a link without",
            tar(&[link(b'2', "a", ".."), file("./a/b")]),
            Refusal::FileAndDirectory("a".into()),
        ),
        named("absolute", "/x", PathError::Absolute),
        named("drive", "C:x", PathError::Colon),
        named("backslash", "a\\x", PathError::Backslash),
        named("control character", "a\rb", PathError::Invisible(13)),
        named("a file with a slash", "a/", PathError::Empty),
        ("no name", tar(&[file("")]), refused("", PathError::Empty)),
        (
            "prefix alone",
            tar(&[member(b'5', "", "").patch(345, "d")]),
            malformed("``: a prefix without a name"),
        ),
        ("dotdot in a prefix", tar(&[file("x").patch(345, "..")]), refused("../x", PathError::Dots)),
        ("dotdot in a pax header", extended("../x"), refused("../x", PathError::Dots)),
        (
            "dotdot under a pax header",
            tar(&[pax(b'x', &[("path", "x")]), file("../x")]),
            refused("../x", PathError::Dots),
        ),
        ("not UTF-8", tar(&[member(b'0', b"a\xFF", "")]), Refusal::NameEncoding("a\u{fffd}".into())),
        ("tt14 twice", tar(&[file("a"), file("a")]), Refusal::Duplicate("a".into())),
        (
            "normal forms",
            tar(&[file("é"), file("e\u{301}")]),
            Refusal::Collision("e\u{301}".into(), "é".into()),
        ),
        (
            "tt17 a link that is a directory",
            tar(&[link(b'2', "a", "/etc"), member(b'5', "a/", "").mode(0o700)]),
            Refusal::FileAndDirectory("a".into()),
        ),
        ("below a link", tar(&[link(b'2', "a", ".."), file("a/b")]), Refusal::FileAndDirectory("a".into())),
    ]);
}

#[test]
fn kinds() {
    let special = |id, kind: u8, what| {
        (id, tar(&[link(kind, "a", "/etc/passwd")]), Refusal::SpecialFile { name: "a".into(), kind: what })
    };
    let other = |id, kind: u8, feature: &str| {
        (
            id,
            tar(&[file("a").patch(156, [kind])]),
            Refusal::Unsupported { name: "a".into(), feature: feature.into() },
        )
    };
    assert_refused(vec![
        special("tt04 hard link", b'1', "a hard link"),
        special("character device", b'3', "a character device"),
        special("block device", b'4', "a block device"),
        special("pipe", b'6', "a named pipe"),
        special("contiguous", b'7', "a contiguous file"),
        other("long name", b'L', "a long name in the old format of GNU tar (`tar --format=pax` has another)"),
        other("long link", b'K', "a long name in the old format of GNU tar (`tar --format=pax` has another)"),
        other("sparse", b'S', "a sparse file"),
        other("old", 0, "a member without a type"),
        other("volume", b'V', "a member of type `V`"),
        (
            "link without a target",
            tar(&[link(b'2', "a", "")]),
            malformed("`a`: this symbolic link has no target"),
        ),
        (
            "link with the mode of a file",
            tar(&[file("d/t"), link(b'2', "d/e/a", "../t").mode(0o644)]),
            malformed("`d/e/a`: this symbolic link has the mode of a file"),
        ),
        (
            "link with content",
            tar(&[member(b'2', "a", "x").patch(157, "t")]),
            malformed("`a`: this is not a file, but has content"),
        ),
        (
            "directory with content",
            tar(&[member(b'5', "a/", "x")]),
            malformed("`a`: this is not a file, but has content"),
        ),
    ]);
}

#[test]
fn headers() {
    let octal = malformed("`a`: a number in its header is not octal");
    let mut huge = [0; 12];
    (huge[0], huge[4]) = (0x80, 0x80);
    let good = tar(&[file("a")]);
    let blocks = "the two empty blocks at its end are incomplete";
    let missing = "a member or the empty blocks at its end";
    assert_refused(vec![
        ("tt20 base-256 size", tar(&[file("a").patch(124, huge)]), octal.clone()),
        ("letters in the mode", tar(&[file("a").patch(100, "x")]), octal.clone()),
        ("a size that fills its field", tar(&[file("a").patch(124, "000000000005")]), octal),
        ("checksum", tar(&[file("a").late_patch(0, "b")]), Refusal::BadChecksum("b".into())),
        (
            "second header of another format",
            tar(&[file("a"), file("b").patch(257, [0; 8])]),
            malformed("`b`: this header is not of the pax format"),
        ),
        (
            "GNU header with times",
            tar(&[file("a"), file("b").patch(257, "ustar  \0").patch(345, "1")]),
            malformed("`b`: this header is not of the pax format"),
        ),
        ("content cut off", good[..514].to_vec(), Refusal::Truncated("a member has no end")),
        (
            "size beyond the file",
            tar(&[file("a").patch(124, "77777777777")]),
            Refusal::Truncated("a member has no end"),
        ),
        ("no end", good[..1024].to_vec(), Refusal::Truncated(missing)),
        ("half an end", good[..1536].to_vec(), Refusal::Truncated(blocks)),
        ("an end of odd length", [&good[..], &[0]].concat(), Refusal::Truncated(blocks)),
        ("a second archive", [&good[..], &good[..]].concat(), Refusal::StrayBytes("after its end")),
        (
            "padding",
            tar(&[file("a").late_patch(1000, "x")]),
            Refusal::StrayBytes("after the content of a member"),
        ),
    ]);
}

#[test]
fn extended_headers() {
    let x = |records: &[(&str, &str)]| pax(b'x', records);
    let g = |records: &[(&str, &str)]| pax(b'g', records);
    let lonely = malformed("a pax header is not followed by its member");
    let global = malformed("a global pax header has the name or size of a member");
    let cut = malformed("a pax header has a name that some readers cut");
    let filler = "c".repeat(480);
    assert_refused(vec![
        (
            "tt07 two sizes",
            tar(&[x(&[("size", "1024")]), member(b'0', "a", "")]),
            Refusal::HeaderMismatch { name: "a".into(), field: "size" },
        ),
        (
            "two link targets",
            tar(&[x(&[("linkpath", "safe")]), link(b'2', "a", "../evil")]),
            Refusal::HeaderMismatch { name: "a".into(), field: "link target" },
        ),
        ("two headers", tar(&[x(&[("path", "a")]), x(&[]), file("b")]), lonely.clone()),
        ("a global one between", tar(&[x(&[("path", "a")]), g(&[]), file("b")]), lonely.clone()),
        ("at the end", tar(&[x(&[("path", "a")])]), lonely),
        ("global name", tar(&[g(&[("path", "a")]), file("b")]), global.clone()),
        ("global size", tar(&[g(&[("size", "0")]), file("b")]), global),
        (
            "two comments",
            tar(&[g(&[("comment", "a")]), g(&[("comment", "a")])]),
            malformed("there are two global comments"),
        ),
        (
            "over two blocks",
            tar(&[x(&[("comment", &filler), ("path", "abcdefghijklmnop")]), file("b")]),
            cut.clone(),
        ),
        ("NUL", tar(&[x(&[("path", "a\0b")]), file("b")]), cut),
        (
            "endless",
            tar(&[member(b'x', "x", vec![b'1'; 2 << 20]), file("b")]),
            malformed("a pax header is too long"),
        ),
    ]);
}

#[test]
fn gzip_streams() {
    let good = gzip(&tar(&[file("a")]));
    let name = || "the gzip stream".to_owned();
    let cut = |len: usize| good[..len].to_vec();
    let patched = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        bytes
    };
    let (len, actual) = (good.len(), tar(&[file("a")]).len() as u64);
    assert_eq!(refusal(&good), None);
    assert_refused(vec![
        ("tt26 checksum", patched(len - 8), Refusal::BadChecksum(name())),
        ("length", patched(len - 4), Refusal::SizeMismatch { name: name(), declared: actual ^ 1, actual }),
        ("bytes behind", [&good[..], b"x"].concat(), Refusal::StrayBytes("after the gzip stream")),
        ("a second member", [&good[..], &good[..]].concat(), Refusal::StrayBytes("after the gzip stream")),
        ("cut off", cut(len - 9), Refusal::Truncated("the gzip stream has no end")),
        ("header alone", cut(10), Refusal::Truncated("the gzip stream has no end")),
        ("half a header", cut(5), Refusal::Truncated("the gzip header")),
        ("method", patched(2), malformed("the gzip header is of an unknown kind")),
        ("no tar inside", gzip(b"{}"), Refusal::NotAnArchive { expected: "a tar archive", found: "JSON" }),
    ]);
    // A header with all optional parts: extra field, name, comment and checksum.
    let mut long = vec![0x1F, 0x8B, 8, 2 | 4 | 8 | 16, 0, 0, 0, 0, 0, 3, 2, 0, b'e', b'e', b'n', 0, b'c', 0];
    let crc = crc32fast::hash(&long).to_le_bytes();
    long.extend([crc[0], crc[1]]);
    assert_eq!(refusal(&[&long, &good[10..]].concat()), None);
    long[14] ^= 1;
    let damaged = Refusal::BadChecksum("the gzip header".to_owned());
    assert_eq!(refusal(&[&long, &good[10..]].concat()), Some(damaged));
    let bomb = gzip(&vec![0; 48 << 20]);
    assert_eq!(refusal(&bomb), Some(Refusal::Ratio { name: name(), ratio: 201, limit: 200 }), "zb01 in gzip");
    let limits = Limits { archive_content: 2000, ..Limits::default() };
    assert_eq!(refusal_within(&good, &limits), Some(Refusal::TooLarge { size: 2001, limit: 2000 }));
}

#[test]
fn limits() {
    let many: Vec<_> = (0..20).map(|number| file(&number.to_string())).collect();
    let many = tar(&many);
    let limited = |limits: Limits| refusal_within(&many, &limits);
    let defaults = Limits::default;
    assert_eq!(
        limited(Limits { archive_entries: 19, ..defaults() }),
        Some(Refusal::TooManyEntries { count: 20, limit: 19 })
    );
    assert_eq!(
        limited(Limits { archive_content: 98, ..defaults() }),
        Some(Refusal::TooLarge { size: 100, limit: 98 })
    );
    assert_eq!(limited(Limits { archive_bytes: 99, ..defaults() }), Some(Refusal::ArchiveTooLarge(99)));
}
