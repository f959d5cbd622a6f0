package text

import (
	"fmt"
	"math"
	"sync"
	"unicode"

	"golang.org/x/sys/windows"
)

// codePage decodes a line by the console code page, used by shells, or the ANSI code page, used by
// other programs, whichever yields more plausible text. It returns "" if neither does, or for
// Latin-1 or Windows-1252.
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
	wide := make([]uint16, len(line)) // one UTF-16 unit per byte suffices
	n, err := windows.MultiByteToWideChar(page, invalidChars, &line[0], int32(len(line)), &wide[0], int32(len(wide)))
	if err != nil {
		return "", false
	}
	return windows.UTF16ToString(wide[:n]), true
}

// likely scores how much a line looks like text: non-ASCII letters and box drawing count for it,
// symbols inside words against it.
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

// isLetter reports letters in words. Western code pages contain some Greek letters as symbols.
func isLetter(r rune) bool {
	return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lo) && (windows.GetACP() == greekPage || !unicode.Is(unicode.Greek, r))
}

func isDrawn(r rune) bool { return r >= 0x2500 && r < 0x2580 }
