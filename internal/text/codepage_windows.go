package text

import (
	"fmt"
	"math"
	"sync"
	"unicode"

	"golang.org/x/sys/windows"
)

// codePage decodes a line by the code page of consoles, in which shells write, or by that of other
// programs, whichever makes words of it. It returns "" where it is in neither, or in Latin-1 or
// Windows-1252.
func codePage(line []byte) (found Encoding, text string) {
	most, best := math.MinInt, uint32(westPage)
	for _, page := range []uint32{consolePage(), windows.GetACP()} {
		if page == utf8Page {
			continue
		}
		if s, ok := decodePage(page, line); ok {
			if n := likely([]rune(s)); n > most {
				best, text, most = page, s, n
			}
		}
	}
	if best == westPage {
		return "", ""
	}
	return Encoding(fmt.Sprintf("code page %d", best)), text
}

const (
	utf8Page     = 65001
	westPage     = 1252
	greekPage    = 1253
	invalidChars = 8 // MB_ERR_INVALID_CHARS
)

var consolePage = sync.OnceValue(func() uint32 {
	page, _, _ := windows.NewLazySystemDLL("kernel32.dll").NewProc("GetOEMCP").Call()
	return uint32(page)
})

func decodePage(page uint32, line []byte) (string, bool) {
	wide := make([]uint16, len(line)) // no character of a code page takes more
	n, err := windows.MultiByteToWideChar(page, invalidChars, &line[0], int32(len(line)), &wide[0], int32(len(wide)))
	if err != nil {
		return "", false
	}
	return windows.UTF16ToString(wide[:n]), true
}

// likely is higher the more a line looks like text: by its letters beside ASCII, by lines that are
// drawn, and against signs in a word.
func likely(line []rune) (n int) {
	at := func(i int) rune {
		if i < 0 || i >= len(line) {
			return ' '
		}
		return line[i]
	}
	for i, r := range line {
		before, behind := at(i-1), at(i+1)
		switch {
		case r <= unicode.MaxASCII, unicode.IsPunct(r):
		case isLetter(r), isDrawn(r) && (isDrawn(before) || isDrawn(behind)):
			n++
		case unicode.IsLetter(before), unicode.IsLetter(behind):
			n--
		}
	}
	return n
}

// isLetter reports a letter of a word. Code pages of the West have some Greek letters as signs.
func isLetter(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lo) && (windows.GetACP() == greekPage || !unicode.Is(unicode.Greek, r))
}

// isDrawn reports a piece of a frame.
func isDrawn(r rune) bool { return r >= 0x2500 && r < 0x2580 }
