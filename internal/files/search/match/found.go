package match

// Reason says why a file was not searched, or not to its end.
type Reason string

// The reasons.
const (
	Searched Reason = ""
	Binary   Reason = "binary"    // it has NUL bytes and is no text
	TooLarge Reason = "too large" // MaxLine, MaxMultiline
)

// Config is what a scan keeps of a file.
type Config struct {
	Before, After int  // lines of context
	Width         int  // characters kept of a line, around its match; if 0, all
	First         bool // stop at the first match: only whether there is one counts
	Most          int  // stop at this many; if 0, go on to the end
}

// Line is one line to show.
type Line struct {
	Number   int    // from 1
	Text     string // as in the file, or cut to Width characters
	From, To int    // where the match lies in Text, if it was cut or the match is of several lines
	Column   int    // the byte of the line at which Text begins, from 1
	Match    bool   // else context
	Starts   bool   // a match begins here; only a multiline match has more lines
	CutLeft  bool   // something was cut off before Text
	CutRight bool   // or after it
}

// Found is what a scan concludes about a file.
type Found struct {
	Count  int // lines that match; multiline: matches
	Lines  []Line
	Skip   Reason // with a reason, Count and Lines are empty
	Decode string // "utf-16" if the text was decoded from it
	NULs   bool   // it is text with NUL bytes in it
}
