package pairing

import (
	"fmt"
	"strings"

	"rsc.io/qr"
)

// quiet is the empty border of a code, in modules: four, by ISO/IEC 18004.
const quiet = 4

// QR draws a text as a code that a camera reads: dark on light whatever the theme of the terminal,
// two modules in each cell.
func QR(text string) (string, error) {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return "", fmt.Errorf("draw a QR code: %w", err)
	}
	var b strings.Builder
	for y := -quiet; y < code.Size+quiet; y += 2 {
		b.WriteString("\x1b[38;5;16;48;5;231m") // black on white, as no theme changes them
		for x := -quiet; x < code.Size+quiet; x++ {
			upper, lower := code.Black(x, y), code.Black(x, y+1)
			switch {
			case upper && lower:
				b.WriteString("█")
			case upper:
				b.WriteString("▀")
			case lower:
				b.WriteString("▄")
			default:
				b.WriteByte(' ')
			}
		}
		b.WriteString("\x1b[0m\n")
	}
	return b.String(), nil
}
