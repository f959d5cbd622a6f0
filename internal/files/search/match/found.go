package match

// Reason is why a file was not searched, or not completely.
type Reason string

// The reasons.
const (
	Searched Reason = ""
	Binary   Reason = "binary"    // it contains NUL bytes and is not text
	TooLarge Reason = "too large" // see MaxLine and MaxMultiline
)

// Config sets the lines to keep from a file.
type Config struct {
	Before, After int  // context lines
	Width         int  // characters kept from a line, around its match; if 0, all
	First         bool // stop at the first match; no lines are kept
	Limit         int  // stop after this many; if 0, search to the end
}

// Line is a result line.
type Line struct {
	Number               int    // from 1
	Text                 string // whole, or cut to Width characters
	MatchStart, MatchEnd int    // the match's range in Text, if it was cut or the match spans lines
	Column               int    // offset of Text in the line, in bytes from 1
	Starts               int32  // matches that begin here: a multiline search may find several
	Match                bool   // false for context
	CutLeft              bool   // the line's start was cut off
	CutRight             bool   // the line's end was cut off
}

// FileResult is the result for one file.
type FileResult struct {
	Count  int // matching lines; for multiline, matches, several on a line
	Lines  []Line
	Skip   Reason // if set, Count and Lines are empty
	Decode string // "utf-16" if the text was decoded
	NULs   bool   // the text contains NUL bytes
}
