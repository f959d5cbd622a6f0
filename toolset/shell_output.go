package toolset

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"adze/internal/sandbox/proc"
	"adze/internal/text"
	"adze/internal/text/fold"
	"adze/internal/text/plural"
)

// view is a command's output for the model: plain text with folded repetition, its start and its
// end.
type view struct {
	fold.Excerpt
	binary    *proc.Text // replaces everything if the output is no text
	encodings []text.Encoding
}

func viewOf(t proc.Text, room fold.Limits) view {
	var v view
	written := t
	t.Head, t.Tail, v.encodings = inUTF8(t.Head, t.Tail)
	if isBinary(t) || isBinary(written) && !slices.Contains(v.encodings, text.UTF16LE) && !slices.Contains(v.encodings, text.UTF16BE) {
		t = shrunk(written, room)
		v.binary = &t
		return v
	}
	rows := fold.Rows(plainText(t.Head))
	if t.OmittedBytes > 0 || t.Tail != "" {
		rows = append(append(rows, fold.Gap(t.OmittedLines, t.OmittedBytes)), fold.Rows(plainText(t.Tail))...)
	}
	v.Excerpt = fold.Fit(rows, room)
	return v
}

// shrunk cuts an output to the examined part.
func shrunk(t proc.Text, room fold.Limits) proc.Text {
	size := int64(len(t.Head) + len(t.Tail))
	head, tail := t.Head, t.Tail
	switch {
	case len(head) <= room.Head && len(tail) <= room.Tail:
		return t
	case tail == "":
		head, tail = head[:room.Head], head[max(room.Head, len(head)-room.Tail):]
	default:
		head, tail = head[:min(len(head), room.Head)], tail[max(0, len(tail)-room.Tail):]
	}
	t.Head, t.Tail = head, tail
	t.OmittedBytes += size - int64(len(head)+len(tail))
	return t
}

// inUTF8 converts two parts of one output to UTF-8, and returns the other encodings in them.
func inUTF8(head, tail string) (h, t string, found []text.Encoding) {
	h, found = text.Output([]byte(head))
	t, more := text.Output([]byte(tail))
	for _, e := range more {
		if !slices.Contains(found, e) {
			found = append(found, e)
		}
	}
	return h, t, found
}

// cut reports whether the view is shorter than the output.
func (v view) cut() bool {
	return v.OmittedBytes > 0 || v.Folded || v.binary != nil && v.binary.OmittedBytes > 0
}

// text returns the view with a note between its parts. where describes how to get the full output.
func (v view) text(where string) string {
	if v.binary != nil {
		return binaryShown(*v.binary, where)
	}
	if where != "" {
		where = "; " + where
	}
	out := v.Head
	switch {
	case v.OmittedBytes > 0:
		out = endLine(v.Head) + fmt.Sprintf("(%s left out here%s)\n", amount(v.OmittedLines, v.OmittedBytes), where) + v.Tail
	case v.Folded:
		out = endLine(v.Head) + "(shortened" + where + ")\n"
	}
	if len(v.encodings) > 0 {
		names := make([]string, len(v.encodings))
		for i, e := range v.encodings {
			names[i] = string(e)
		}
		out = endLine(out) + "(decoded from " + strings.Join(names, ", ") + ")\n"
	}
	return out
}

func amount(lines, size int64) string {
	if lines == 0 {
		return plural.Of(size, "byte")
	}
	return plural.Of(lines, "line") + ", " + plural.Of(size, "byte")
}

func endLine(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

// plainText returns s as a user would see it: without escape sequences and non-text bytes, and with
// only the last state of lines overwritten by carriage returns. Progress bars would otherwise fill
// the model's context.
func plainText(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x7f }) {
		return s
	}
	if strings.Contains(s, "\x1b") {
		s = escapes().ReplaceAllString(s, "")
	}
	var b strings.Builder
	b.Grow(len(s))
	for line := range strings.Lines(s) {
		body, end := strings.CutSuffix(line, "\n")
		b.WriteString(lastState(strings.TrimRight(body, "\r")))
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// lastState keeps the text after the last carriage return and replaces other control characters.
func lastState(line string) string {
	line = line[strings.LastIndexByte(line, '\r')+1:]
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\b':
			return -1
		case r == 0:
			return '␀'
		case r < ' ' && r != '\t' || r == 0x7f:
			return utf8.RuneError
		}
		return r
	}, line)
}

// escapes matches ECMA-48 control sequences: ESC [ … final, ESC ] … BEL or ESC \, and ESC with one
// character. An unfinished one extends to the line's end or another ESC.
var escapes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\x1b(?:\[[^@-~\n]*[@-~]?|[\]P_^X][^\a\x1b\n]*(?:\a|\x1b\\)?|[^\n]?)`)
})

// short formats a duration to the millisecond below ten seconds, else to the tenth of a second.
func short(d time.Duration) string {
	if d < 10*time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// oneLine returns the first line of s, cut for a title.
func oneLine(s string, size int) string {
	line, _, more := strings.Cut(strings.TrimSpace(s), "\n")
	if utf8.RuneCountInString(line) > size {
		line, more = string([]rune(line)[:size]), true
	}
	if more {
		line += "…"
	}
	return line
}

// lastBytes returns the end of s, from the start of a line if cut.
func lastBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	return s[strings.IndexByte(s, '\n')+1:]
}

// binaryLeast is the number of non-text bytes that make an output binary if they are also a tenth
// of it: a few are shown as marks.
const binaryLeast = 16

func isBinary(t proc.Text) bool {
	odd := oddBytes(t.Head) + oddBytes(t.Tail)
	return odd >= binaryLeast && odd*10 >= len(t.Head)+len(t.Tail)
}

// binaryShown describes binary output and shows only the text lines before and after it.
func binaryShown(t proc.Text, where string) string {
	before := textBefore(t.Head)
	rest := t.Head[len(before):] + t.Tail
	after := rest[len(rest)-len(textAfter(rest)):]
	kind := ""
	if k := text.Sniff([]byte(rest[:min(len(rest), text.HeadSize)])); !k.Text {
		kind = " (" + k.Name + ")"
	}
	size := int64(len(rest)-len(after)) + t.OmittedBytes
	if where == "" {
		where = "write it to a file, or look at it with xxd, strings or file"
	}
	return endLine(plainText(before)) + fmt.Sprintf("[binary output%s: %s not shown; %s]\n", kind, plural.Of(size, "byte"), where) + plainText(after)
}

// tailText returns the end of an output for panes.
func tailText(s string) string {
	if t := (proc.Text{Head: s}); isBinary(t) {
		return binaryShown(t, "not text")
	}
	s, _ = text.Output([]byte(s))
	return plainText(s)
}

// oddBytes counts bytes foreign to terminal text: controls, except in a NUL-separated list, and
// bytes that are neither UTF-8 nor Latin-1 letters.
func oddBytes(s string) (n int) {
	nuls := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			switch {
			case c == 0:
				nuls++
			case c < ' ' && !strings.ContainsRune("\t\n\r\f\v\b\a\x1b", rune(c)), c == 0x7f:
				n++
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 && c < 0xA0 {
			n++
		}
		i += size
	}
	if n > 0 || nuls*4 > len(s) {
		n += nuls
	}
	return n
}

// textBefore returns the text lines at the start of an output.
func textBefore(s string) string {
	end := 0
	for line := range strings.Lines(s) {
		if oddBytes(line) > 0 || !utf8.ValidString(line) || !strings.HasSuffix(line, "\n") {
			break
		}
		end += len(line)
	}
	return s[:end]
}

// textAfter returns the text lines at the end; between binary data, a short one is chance.
func textAfter(s string) string {
	start := len(s)
	for start > 0 {
		from := strings.LastIndexByte(s[:start-1], '\n') + 1
		if line := s[from:start]; from == 0 || oddBytes(line) > 0 || strings.Contains(line, "\x00") || !utf8.ValidString(line) {
			break
		}
		start = from
	}
	if len(s)-start < binaryLeast/2 {
		return ""
	}
	return s[start:]
}

// spiller stores a command's full output in a file once it is too long to be shown.
type spiller struct {
	open    func() (io.WriteCloser, string, error) // nil stores nothing
	keep    int                                    // bytes shown without a file
	pending []byte
	file    io.WriteCloser
	path    string
	failed  error
}

// take is called with each chunk, in order.
func (s *spiller) take(chunk []byte) {
	switch {
	case s.open == nil || s.failed != nil:
	case s.file != nil:
		_, s.failed = s.file.Write(chunk)
	default:
		s.pending = append(s.pending, chunk...)
		if len(s.pending) > s.keep {
			s.flush()
		}
	}
}

func (s *spiller) flush() {
	if s.file, s.path, s.failed = s.open(); s.failed == nil {
		_, s.failed = s.file.Write(s.pending)
	}
	s.pending = nil
}

// close returns the path to the full output, or "" if nothing was cut.
func (s *spiller) close(cut bool) (path string, err error) {
	if cut && s.open != nil && s.file == nil && s.failed == nil {
		s.flush()
	}
	if s.file != nil {
		if err := s.file.Close(); s.failed == nil {
			s.failed = err
		}
	}
	if s.failed != nil || s.file == nil {
		return "", s.failed
	}
	return s.path, nil
}
