class Skillpm < Formula
  desc "Package manager and runtime engine for Agent Skills"
  homepage "https://github.com/skillpm/skillpm"
  version "@VERSION@"
  license "MIT"

  on_macos do
    on_arm do
      url "@URL skillpm-aarch64-apple-darwin.tar.xz@"
      sha256 "@SHA256 skillpm-aarch64-apple-darwin.tar.xz@"
    end
    on_intel do
      url "@URL skillpm-x86_64-apple-darwin.tar.xz@"
      sha256 "@SHA256 skillpm-x86_64-apple-darwin.tar.xz@"
    end
  end

  on_linux do
    on_arm do
      url "@URL skillpm-aarch64-unknown-linux-gnu.tar.xz@"
      sha256 "@SHA256 skillpm-aarch64-unknown-linux-gnu.tar.xz@"
    end
    on_intel do
      url "@URL skillpm-x86_64-unknown-linux-gnu.tar.xz@"
      sha256 "@SHA256 skillpm-x86_64-unknown-linux-gnu.tar.xz@"
    end
  end

  def install
    bin.install "skillpm"
    bash_completion.install "completions/skillpm.bash" => "skillpm"
    zsh_completion.install "completions/_skillpm"
    fish_completion.install "completions/skillpm.fish"
    man1.install Dir["man/*.1"]
    doc.install "THIRD-PARTY-LICENSES.txt", "skillpm.cdx.json"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/skillpm --version")
    system bin/"skillpm", "create", "brew-test", "--yes"
    system bin/"skillpm", "validate", "brew-test"
  end
end
