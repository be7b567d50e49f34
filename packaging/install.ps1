# Installs the mcp-keel binary on Windows: downloads the archive, verifies its checksum and unpacks it. No administrator.
#
#   irm https://github.com/mcp-keel/mcp-keel/releases/latest/download/install.ps1 | iex
#   .\install.ps1 -Version v0.1.0 -To .\bin
param(
    # A release such as v0.1.0, or latest. The install.ps1 of a release names that release here.
    [string]$Version = "latest",
    # Where the binary goes.
    [string]$To = (Join-Path $env:LOCALAPPDATA "mcp-keel\bin")
)
$ErrorActionPreference = "Stop"
# Windows PowerShell 5.1 draws a progress bar that makes downloads many times slower, and may default to TLS 1.0.
$ProgressPreference = "SilentlyContinue"
[Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12

$machine = $env:PROCESSOR_ARCHITECTURE
switch ($machine) {
    "AMD64" { $target = "x86_64-pc-windows-msvc" }
    # Windows on ARM runs x64 programs.
    "ARM64" { $target = "x86_64-pc-windows-msvc" }
    default { throw "mcp-keel has no binary for Windows on $machine; with Rust: cargo install --locked mcp-keel" }
}

if ($Version -match "^[0-9]") { $Version = "v$Version" }
if ($env:MCP_KEEL_RELEASES) {
    # A mirror has the same layout: VERSION/mcp-keel-TARGET.tar.gz and VERSION/SHA256SUMS.
    $from = "$env:MCP_KEEL_RELEASES/$Version"
} elseif ($Version -eq "latest") {
    $from = "https://github.com/mcp-keel/mcp-keel/releases/latest/download"
} else {
    $from = "https://github.com/mcp-keel/mcp-keel/releases/download/$Version"
}

$work = Join-Path ([IO.Path]::GetTempPath()) ("mcp-keel-" + [Guid]::NewGuid())
New-Item -ItemType Directory -Path $work | Out-Null
try {
    $archive = "mcp-keel-$target.tar.gz"
    $sums = Join-Path $work "SHA256SUMS"
    $file = Join-Path $work $archive
    Invoke-WebRequest -UseBasicParsing -Uri "$from/SHA256SUMS" -OutFile $sums
    $line = Get-Content $sums | Where-Object { $_ -match "^[0-9a-f]{64}  $([regex]::Escape($archive))$" } | Select-Object -First 1
    if (-not $line) { throw "SHA256SUMS of $Version does not list $archive" }
    $expected = $line.Substring(0, 64)
    Invoke-WebRequest -UseBasicParsing -Uri "$from/$archive" -OutFile $file
    $actual = (Get-FileHash -Algorithm SHA256 -Path $file).Hash.ToLowerInvariant()
    if ($actual -ne $expected) { throw "$archive has the SHA-256 $actual, not $expected; nothing was installed" }

    # Part of Windows since 2018; a tar of Git for Windows would take C: for the name of a machine.
    & "$env:SystemRoot\System32\tar.exe" -xzf $file -C $work mcp-keel.exe
    if ($LASTEXITCODE -ne 0) { throw "cannot unpack $archive" }
    New-Item -ItemType Directory -Force -Path $To | Out-Null
    Move-Item -Force -Path (Join-Path $work "mcp-keel.exe") -Destination (Join-Path $To "mcp-keel.exe")
} finally {
    Remove-Item -Recurse -Force $work
}

& (Join-Path $To "mcp-keel.exe") --version
"installed in $To"
$onPath = ($env:Path -split ";") -contains $To
if (-not $onPath) { "add it to PATH for this session: `$env:Path = `"$To;`$env:Path`"" }
