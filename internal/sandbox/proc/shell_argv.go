package proc

import (
	"encoding/base64"
	"encoding/binary"
	"unicode/utf16"
)

// Argv is the argument vector that runs a command line, without anybody's start files.
func (p ShellProgram) Argv(command string) []string {
	switch p.Kind {
	case PowerShell:
		return []string{p.Path, "-NoLogo", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-EncodedCommand", encoded(powershellBegin + command + powershellEnd)}
	case Cmd:
		return []string{p.Path, "/c", command}
	}
	return []string{p.Path, "--noprofile", "--norc", "-c", command}
}

// What stands around a line of PowerShell: its output is UTF-8, it draws no progress, and its exit
// code is that of the last program.
const (
	powershellBegin = "[Console]::OutputEncoding=[Text.UTF8Encoding]::new($false); $ProgressPreference='SilentlyContinue'\n"
	powershellEnd   = "\nif (-not $?) { if ($LASTEXITCODE) { exit $LASTEXITCODE }; exit 1 }; exit 0\n"
)

// encoded is text as PowerShell takes it without any quoting: UTF-16 in base64.
func encoded(text string) string {
	var raw []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		raw = binary.LittleEndian.AppendUint16(raw, unit)
	}
	return base64.StdEncoding.EncodeToString(raw)
}
