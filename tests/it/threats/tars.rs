//! Tar archives: tt.

use super::{AFTER, BEFORE, Scene, Want, Way};
use skillpm_testing::archive::{Member, gzip, link, member, pax, tar};

use Want::Refused;

const WAYS: [Way; 3] = [Way::File("tar"), Way::File("tar.gz"), Way::Download("tgz")];

fn with(members: Vec<Member>) -> Vec<u8> {
    tar(&[vec![member(b'0', "r/demo/SKILL.md", AFTER)], members].concat())
}

fn each(cases: &[(&str, Vec<u8>, Want)]) {
    let control = tar(&[member(b'0', "r/demo/SKILL.md", BEFORE)]);
    for way in WAYS {
        let packed = |bytes: &[u8]| if way == Way::File("tar") { bytes.to_vec() } else { gzip(bytes) };
        let mut unchanged = None;
        for (id, bytes, want) in cases {
            let scene = unchanged.take().unwrap_or_else(|| Scene::new(way, &packed(&control)));
            scene.offer(&packed(bytes), "");
            let output = scene.attack(id, *want);
            unchanged = scene.again(&output);
        }
    }
}

/// tt01, tt04, tt07, tt14, tt17, tt20: what readers skip, follow, or read in two ways.
#[test]
fn members() {
    let mut huge = [0; 12];
    (huge[0], huge[4]) = (0x80, 0x80);
    // To a reader that believes the first header, what follows is the content; to others a member.
    let smuggled = tar(&[member(b'0', "r/demo/smuggled.sh", "x")]);
    let desync = [tar(&[pax(b'x', &[("size", "1024")]), member(b'0', "r/demo/x", "")])].concat();
    let desync =
        [&tar(&[member(b'0', "r/demo/SKILL.md", AFTER)])[..1024], &desync[..desync.len() - 1024], &smuggled]
            .concat();
    each(&[
        ("tt01", with(vec![member(b'0', "../CANARY", "x")]), Refused("it has a `.` or `..` component")),
        (
            "tt04-hardlink-outside",
            with(vec![link(b'1', "r/demo/passwd", "/etc/passwd")]),
            Refused("a hard link is not allowed"),
        ),
        ("tt07-pax-size-desync", desync, Refused("the two headers of this entry differ in size")),
        ("tt14-dup", with(vec![member(b'0', "r/demo/SKILL.md", BEFORE)]), Refused("this name appears twice")),
        (
            "tt17-chmod-via-symlink",
            with(vec![link(b'2', "r/demo/d", "../../../outside"), member(b'5', "r/demo/d/", "").mode(0o700)]),
            Refused("both a file and a directory"),
        ),
        (
            "tt20-huge-size",
            with(vec![member(b'0', "r/demo/x", "").patch(124, huge)]),
            Refused("a number in its header is not octal"),
        ),
    ]);
}

/// tt26-gzip-bad-crc; zb01 in gzip.
#[test]
fn streams() {
    let control = gzip(&tar(&[member(b'0', "r/demo/SKILL.md", BEFORE)]));
    let mut bad = gzip(&with(Vec::new()));
    let at = bad.len() - 8;
    bad[at] ^= 1;
    let bomb = gzip(&vec![0; 48 << 20]);
    for way in [Way::File("tar.gz"), Way::Download("tgz")] {
        for (id, bytes, part) in
            [("tt26-gzip-bad-crc", &bad, "does not match its checksum"), ("zb01", &bomb, "times its size")]
        {
            let scene = Scene::new(way, &control);
            scene.offer(bytes, "");
            scene.attack(id, Refused(part));
        }
    }
}
