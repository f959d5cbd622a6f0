package imagescale

import (
	"bytes"
	"encoding/binary"
	"image"
)

// orientation returns a JPEG's EXIF orientation, 1 to 8 (tag 0x0112), or 1 if unknown.
func orientation(data []byte) int {
	for at := 2; at+4 <= len(data) && data[at] == 0xff; {
		kind, size := data[at+1], int(binary.BigEndian.Uint16(data[at+2:]))
		if kind == 0xda || size < 2 || at+2+size > len(data) {
			break // image data begins
		}
		if body := data[at+4 : at+2+size]; kind == 0xe1 && bytes.HasPrefix(body, []byte("Exif\x00\x00")) {
			return exifTurn(body[6:])
		}
		at += 2 + size
	}
	return 1
}

// exifTurn finds the tag in the first directory of a TIFF header.
func exifTurn(tiff []byte) int {
	var order binary.ByteOrder = binary.BigEndian
	if bytes.HasPrefix(tiff, []byte("II")) {
		order = binary.LittleEndian
	}
	if len(tiff) < 8 {
		return 1
	}
	at := int(order.Uint32(tiff[4:]))
	if at < 8 || at+2 > len(tiff) {
		return 1
	}
	for range order.Uint16(tiff[at:]) {
		entry := at + 2
		if entry+12 > len(tiff) {
			return 1
		}
		if order.Uint16(tiff[entry:]) == 0x0112 {
			if turn := int(order.Uint16(tiff[entry+8:])); turn >= 1 && turn <= 8 {
				return turn
			}
			return 1
		}
		at += 12
	}
	return 1
}

// turned returns the rotated and mirrored image.
func turned(p *image.RGBA, turn int) *image.RGBA {
	if turn == 1 {
		return p
	}
	w, h := p.Rect.Dx(), p.Rect.Dy()
	to := image.NewRGBA(image.Rect(0, 0, w, h))
	if turn >= 5 {
		to = image.NewRGBA(image.Rect(0, 0, h, w))
	}
	for y := range h {
		for x := range w {
			at := [9][2]int{
				2: {w - 1 - x, y}, 3: {w - 1 - x, h - 1 - y}, 4: {x, h - 1 - y}, 5: {y, x},
				6: {h - 1 - y, x}, 7: {h - 1 - y, w - 1 - x}, 8: {y, w - 1 - x},
			}[turn]
			copy(to.Pix[to.PixOffset(at[0], at[1]):][:4], p.Pix[p.PixOffset(x, y):][:4])
		}
	}
	return to
}
