package match

// What signatures of files have to know of a search.

// FirstRead is how much of a file, in bytes, decides whether it is taken for binary, unless NULs
// come later.
const FirstRead = firstRead

// String is the expression that lines are matched with: the query's with all its options written
// into it.
func (m *Matcher) String() string { return m.re.String() }
