package text

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"
)

// HeadSize is how many bytes from the start of a file Sniff wants.
const HeadSize = 4 << 10

// Kind is what a file's first bytes say it is.
type Kind struct {
	Text  bool
	Name  string // of a file that is no text: "ELF executable"
	Media string // its media type where images and documents need one: "image/png"
}

// Image reports a picture of a kind that models take.
func (k Kind) Image() bool {
	switch k.Media {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// PDF reports a PDF document.
func (k Kind) PDF() bool { return k.Media == "application/pdf" }

// Sniff looks at a file's first HeadSize bytes. Binary is what holds a NUL or more than 30 % bytes
// that no text has, unless a byte order mark says otherwise.
func Sniff(head []byte) Kind {
	head = head[:min(len(head), HeadSize)]
	if k, ok := known(head); ok {
		return k
	}
	for _, m := range boms() {
		if strings.HasPrefix(string(head[:min(4, len(head))]), m.mark) {
			return Kind{Text: true}
		}
	}
	if bytes.IndexByte(head, 0) >= 0 && !strayNUL(head) {
		return Kind{Name: nameWithNUL(head)}
	}
	if strange := strangeBytes(head); strange*10 > len(head)*3 {
		return Kind{Name: fmt.Sprintf("binary data (%d %% of its first bytes are no text)", strange*100/len(head))}
	}
	return Kind{Text: true}
}

// strayNUL reports one NUL, or several together, in what else is text: a log that was cut while it
// was written to. Searching has the same rule (match/nul.go).
func strayNUL(head []byte) bool {
	first := bytes.IndexByte(head, 0)
	behind := bytes.TrimLeft(head[first:], "\x00")
	written := first + len(behind)
	return bytes.IndexByte(behind, 0) < 0 && written >= 64 && (strangeBytes(head)-(len(head)-written))*200 <= written
}

// known recognises files by the bytes they begin with. A text that merely begins like "BM" or "PK"
// is not caught: the short signatures want a binary byte near by.
func known(head []byte) (Kind, bool) {
	media := http.DetectContentType(head)
	switch {
	case strings.HasPrefix(media, "image/") && bytes.IndexByte(head, 0) >= 0, media == "image/webp":
		return Kind{Name: strings.ToUpper(strings.TrimPrefix(media, "image/")) + " image", Media: media}, true
	case bytes.HasPrefix(head, []byte("%PDF-")):
		return Kind{Name: "PDF document", Media: "application/pdf"}, true
	}
	for _, s := range signatures() {
		if bytes.HasPrefix(head, []byte(s[0])) {
			return Kind{Name: s[1]}, true
		}
	}
	return Kind{}, false
}

func signatures() [][2]string {
	return [][2]string{
		{"\x7fELF", "ELF executable"},
		{"MZ\x90\x00", "Windows executable"},
		{"\xCF\xFA\xED\xFE", "Mach-O executable"},
		{"\xCA\xFE\xBA\xBE", "Java class or Mach-O executable"},
		{"\x00asm", "WebAssembly module"},
		{"PK\x03\x04", "ZIP archive (also jar, docx, xlsx)"},
		{"\x1f\x8b", "gzip data"},
		{"BZh9", "bzip2 data"},
		{"\xFD7zXZ\x00", "xz data"},
		{"\x28\xB5\x2F\xFD", "Zstandard data"},
		{"7z\xBC\xAF\x27\x1C", "7-Zip archive"},
		{"Rar!\x1a\x07", "RAR archive"},
		{"SQLite format 3\x00", "SQLite database"},
		{"!<arch>\n", "static library or Debian package"},
		{"OggS\x00", "Ogg media"},
		{"ID3", "MP3 audio"},
		{"wOFF", "web font"},
		{"wOF2", "web font"},
	}
}

// nameWithNUL tells UTF-16 without a mark from other binary data: half of its bytes are NUL, on one
// side.
func nameWithNUL(head []byte) string {
	var at [2]int
	for i, c := range head {
		if c == 0 {
			at[i%2]++
		}
	}
	if len(head) >= 8 && (at[0] == 0 || at[1] == 0) && at[0]+at[1] > len(head)/3 {
		return "UTF-16 text without a byte order mark"
	}
	return "binary data (holds NUL bytes)"
}

// strangeBytes counts controls that no text uses, and bytes above 0x7F that are neither UTF-8 nor
// letters of Latin-1.
func strangeBytes(head []byte) (n int) {
	for i := 0; i < len(head); {
		c := head[i]
		if c < utf8.RuneSelf {
			if c < 0x20 && !strings.ContainsRune("\t\n\r\f\b\x1b", rune(c)) || c == 0x7f {
				n++
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(head[i:])
		if r == utf8.RuneError && size == 1 && c < 0xA0 {
			n++
		}
		i += size
	}
	return n
}
