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
	Before, After int  // lines of context
	Width         int  // characters kept of a line, around its match; if 0, all
	First         bool // stop at the first match; no lines are kept
	Most          int  // stop after this many; if 0, search to the end
}

// Line is one line of a result.
type Line struct {
	Number   int    // from 1
	Text     string // whole, or cut to Width characters
	From, To int    // range of the match in Text, if it was cut or the match spans lines
	Column   int    // byte offset of Text in the line, from 1
	Match    bool   // false for context
	Starts   bool   // first line of a match; only a multiline match has others
	CutLeft  bool   // the line's start was cut off
	CutRight bool   // the line's end was cut off
}

// Found is the result for one file.
type Found struct {
	Count  int // matching lines; for multiline, matches
	Lines  []Line
	Skip   Reason // if set, Count and Lines are empty
	Decode string // "utf-16" if the text was decoded
	NULs   bool   // the text contains NUL bytes
}
