<#
.SYNOPSIS
Installs skillpm: downloads the program for this machine, checks its SHA-256, and puts it into a directory.

.DESCRIPTION
Variables of the environment:
  SKILLPM_INSTALL_DIR   where to put the program [default: ~\.local\bin]
  SKILLPM_VERSION       the version to install, such as 0.1.0 [default: the latest]
  SKILLPM_DOWNLOAD_URL  a directory of a mirror that has the files of one release

The installer writes one file and changes no settings. To check who built an archive, download it and type:
  gh attestation verify skillpm-TARGET.zip --repo skillpm/skillpm

.LINK
https://github.com/skillpm/skillpm/blob/main/docs/guide/install.md
#>

# In a function, so that a download that was cut off does nothing, and `iex` keeps no variables.
function Install-Skillpm {
    $ErrorActionPreference = 'Stop'
    $ProgressPreference = 'SilentlyContinue'
    [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
    $releases = 'https://github.com/skillpm/skillpm/releases'

    if ($env:OS -ne 'Windows_NT') {
        throw "this installer is for Windows; on Linux and macOS: curl -LsSf $releases/latest/download/install.sh | sh"
    }
    # The second variable is set where a shell for another processor runs in emulation.
    $processor = if ($env:PROCESSOR_ARCHITEW6432) { $env:PROCESSOR_ARCHITEW6432 } else { $env:PROCESSOR_ARCHITECTURE }
    $machine = switch ($processor) {
        'AMD64' { 'x86_64' }
        'ARM64' { 'aarch64' }
        default { throw "there is no program for the processor ``$processor``; ``cargo install --locked skillpm`` builds it with Rust" }
    }

    if ($env:SKILLPM_DOWNLOAD_URL) {
        if ($env:SKILLPM_VERSION) {
            throw 'SKILLPM_VERSION and SKILLPM_DOWNLOAD_URL are both set: the address names a version already, so unset SKILLPM_VERSION'
        }
        $release = $env:SKILLPM_DOWNLOAD_URL.TrimEnd('/')
    } elseif ($env:SKILLPM_VERSION) {
        $release = "$releases/download/v$($env:SKILLPM_VERSION -replace '^v', '')"
    } else {
        $release = "$releases/latest/download"
    }
    $directory = if ($env:SKILLPM_INSTALL_DIR) { $env:SKILLPM_INSTALL_DIR } else { Join-Path $HOME '.local\bin' }
    $stem = "skillpm-$machine-pc-windows-msvc"

    $work = Join-Path ([IO.Path]::GetTempPath()) ([Guid]::NewGuid())
    New-Item -ItemType Directory -Path $work | Out-Null
    try {
        $archive = Join-Path $work "$stem.zip"
        Write-Output "downloading $release/$stem.zip"
        Invoke-WebRequest -UseBasicParsing -Uri "$release/$stem.zip" -OutFile $archive
        Invoke-WebRequest -UseBasicParsing -Uri "$release/$stem.zip.sha256" -OutFile "$archive.sha256"
        $wanted = ((Get-Content -Raw "$archive.sha256") -split '\s+')[0]
        $actual = (Get-FileHash -Algorithm SHA256 $archive).Hash
        # Without regard to case, as this operator compares.
        if (-not $wanted -or $actual -ne $wanted) {
            throw "$stem.zip has the SHA-256 $actual, but $wanted was published: nothing was installed"
        }
        Expand-Archive -Path $archive -DestinationPath $work
        $program = Join-Path $work "$stem\skillpm.exe"
        # Not in a pipeline: one that `Select-Object -First` ends early leaves no exit code.
        $output = & $program --version
        if ($LASTEXITCODE -ne 0) { throw 'the program does not run on this machine' }
        $version = @($output)[0]

        New-Item -ItemType Directory -Force -Path $directory | Out-Null
        $directory = (Resolve-Path $directory).Path
        $destination = Join-Path $directory 'skillpm.exe'
        # A program that is running cannot be replaced, but renamed.
        if (Test-Path $destination) { Move-Item -Force $destination (Join-Path $work 'old.exe') }
        Move-Item -Force $program $destination
        Write-Output "installed ${destination}: $version"
    } finally {
        Remove-Item -Recurse -Force -ErrorAction SilentlyContinue $work
    }

    if (($env:Path -split ';') -notcontains $directory) {
        Write-Output 'hint: the directory is not on Path. This adds it for new terminals:'
        Write-Output "  [Environment]::SetEnvironmentVariable('Path', '$directory;' + [Environment]::GetEnvironmentVariable('Path', 'User'), 'User')"
    }
}

Install-Skillpm
