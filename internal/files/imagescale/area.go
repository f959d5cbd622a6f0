package imagescale

import (
	"context"
	"image"
	"image/draw"
)

// area scales by averaging: a new pixel is the mean of the pixels it covers. It reads strips
// covering one new line, so that it needs little memory besides the two images.
func area(ctx context.Context, from image.Image, w, h int) (*image.RGBA, error) {
	b := from.Bounds()
	to := image.NewRGBA(image.Rect(0, 0, w, h))
	if w == b.Dx() && h == b.Dy() {
		draw.Draw(to, to.Rect, from, b.Min, draw.Src)
		return to, ctx.Err()
	}
	strip := image.NewRGBA(image.Rect(0, 0, b.Dx(), b.Dy()/h+2))
	sums := make([]uint64, 4*w)
	for y := range h {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		top, bottom := y*b.Dy()/h, ((y+1)*b.Dy()+h-1)/h
		lines := image.Rect(0, 0, b.Dx(), bottom-top)
		draw.Draw(strip, lines, from, image.Pt(b.Min.X, b.Min.Y+top), draw.Src)
		clear(sums)
		for line := top; line < bottom; line++ {
			// The part of this line in the new one, in units of 1/h.
			part := min((line+1)*h, (y+1)*b.Dy()) - max(line*h, y*b.Dy())
			at := (line - top) * strip.Stride
			gather(sums, strip.Pix[at:at+4*b.Dx()], w, b.Dx(), uint64(part))
		}
		whole := uint64(b.Dx()) * uint64(b.Dy())
		row := to.Pix[y*to.Stride : y*to.Stride+4*w]
		for i, s := range sums {
			row[i] = uint8((s + whole/2) / whole)
		}
	}
	return to, nil
}

// gather adds a line of pixels to the sums of w new ones, each weighted by overlap.
func gather(sums []uint64, line []uint8, w, width int, part uint64) {
	for x := range w {
		left, right := x*width, (x+1)*width // in units of 1/w
		var r, g, b, a uint64
		for at := left / w; at*w < right; at++ {
			covered := uint64(min((at+1)*w, right) - max(at*w, left))
			p := line[4*at : 4*at+4 : 4*at+4]
			r, g, b, a = r+covered*uint64(p[0]), g+covered*uint64(p[1]), b+covered*uint64(p[2]), a+covered*uint64(p[3])
		}
		s := sums[4*x : 4*x+4 : 4*x+4]
		s[0], s[1], s[2], s[3] = s[0]+part*r, s[1]+part*g, s[2]+part*b, s[3]+part*a
	}
}
