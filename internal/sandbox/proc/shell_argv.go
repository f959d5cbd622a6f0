package proc

import (
	"encoding/base64"
	"encoding/binary"
	"unicode/utf16"
)

// Argv returns the arguments that run a command line without start files.
func (p ShellProgram) Argv(command string) []string {
	switch p.Kind {
	case PowerShell:
		return []string{p.Path, "-NoLogo", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-EncodedCommand", encoded(powershellBegin + command + powershellEnd)}
	case Cmd:
		return []string{p.Path, "/c", command}
	}
	return []string{p.Path, "--noprofile", "--norc", "-c", command}
}

// Text around a PowerShell line for UTF-8 output, no progress display, and the last program's exit
// code.
const (
	powershellBegin = "[Console]::OutputEncoding=[Text.UTF8Encoding]::new($false); $ProgressPreference='SilentlyContinue'\n"
	powershellEnd   = "\nif (-not $?) { if ($LASTEXITCODE) { exit $LASTEXITCODE }; exit 1 }; exit 0\n"
)

// encoded returns text in PowerShell's form without quoting: UTF-16 in base64.
func encoded(text string) string {
	var raw []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		raw = binary.LittleEndian.AppendUint16(raw, unit)
	}
	return base64.StdEncoding.EncodeToString(raw)
}
