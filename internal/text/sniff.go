package text

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"
)

// HeadSize is the number of bytes that Sniff needs.
const HeadSize = 4 << 10

// Kind is a file's type, determined from its first bytes.
type Kind struct {
	Text  bool
	Name  string // for binary files: "ELF executable"
	Media string // media type for images and documents: "image/png"
}

// Image reports whether models accept the image format.
func (k Kind) Image() bool {
	switch k.Media {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// PDF reports whether the file is a PDF document.
func (k Kind) PDF() bool { return k.Media == "application/pdf" }

// Sniff examines a file's first HeadSize bytes. Binary means a NUL or more than 30 % bytes that do
// not occur in text, unless there is a byte order mark.
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

// strayNUL reports whether head is text apart from one run of NULs, as in a log truncated while
// open. Searching has the same rule (match/nul.go).
func strayNUL(head []byte) bool {
	first := bytes.IndexByte(head, 0)
	behind := bytes.TrimLeft(head[first:], "\x00")
	written := first + len(behind)
	return bytes.IndexByte(behind, 0) < 0 && written >= 64 && (strangeBytes(head)-(len(head)-written))*200 <= written
}

// known recognizes files by their signatures. Short ones such as "BM" or "PK" also need a binary
// byte nearby, so text is not mistaken.
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

// nameWithNUL distinguishes UTF-16 without a mark, where half the bytes are NUL at one parity, from
// other binary data.
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

// strangeBytes counts control characters that do not occur in text, and bytes above 0x7F that are
// neither UTF-8 nor Latin-1 letters.
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
