// Package imagescale makes pictures as small as models use them: a model looks at no more than so
// many pixels, and what is beyond is paid for in bytes, on every request, for nothing.
//
// The one rule: a picture's size is read before the picture is. What would need more memory than
// maxMemory is refused, so that a file of a few bytes cannot ask for gigabytes.
//
// Start reading at Fit. Sampling is an average over the area (area.go), which keeps small letters
// legible; a photograph is turned as its camera says (turn.go), since that note is lost.
//
// Known limits: of an animation the first picture is kept; colour profiles are dropped.
package imagescale

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"

	"golang.org/x/image/webp"
)

// Limit is what somebody takes of a picture.
type Limit struct {
	Side  int      // pixels of the longer side
	Bytes int      // of the file
	Media []string // media types; none: all of those that are read here
}

// Picture is a picture that fits.
type Picture struct {
	Data          []byte
	Media         string
	Width, Height int
	// FromWidth and FromHeight are what it was scaled from; if 0, it is as it was.
	FromWidth, FromHeight int
}

// Scaled reports that the picture is not the one that was given.
func (p Picture) Scaled() bool { return p.FromWidth > 0 }

// Bounds of what is read.
const (
	// maxMemory is that of the decoded picture: 6000×6000 in 16 bits a channel, or about 80 million
	// usual pixels.
	maxMemory = 320 << 20
	// wordy is a PNG from which on a JPEG is tried, and taken when it is half as large.
	wordy = 1 << 20
	// smallest is the side below which a picture is not made smaller to save bytes.
	smallest = 256
)

// The reasons for which a picture cannot be made to fit.
var (
	ErrLarge  = errors.New("too many pixels")
	ErrFormat = errors.New("not a picture that can be read")
)

// Fit returns a picture that keeps to a limit: the very bytes where they do. Errors wrap ErrLarge,
// ErrFormat or ctx's.
func Fit(ctx context.Context, data []byte, l Limit) (Picture, error) {
	head, media, err := size(data)
	if err != nil {
		return Picture{}, err
	}
	p := Picture{Data: data, Media: media, Width: head.Width, Height: head.Height}
	taken := len(l.Media) == 0 || slices.Contains(l.Media, media)
	if taken && max(p.Width, p.Height) <= l.Side && len(data) <= l.Bytes {
		return p, whole(data, media, head)
	}
	if need := memory(head); need > maxMemory {
		return Picture{}, fmt.Errorf("%d×%d pixels: %w", p.Width, p.Height, ErrLarge)
	}
	from, err := decode(data, media)
	if err != nil {
		return Picture{}, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	turn := 1
	if media == jpegMedia {
		turn = orientation(data)
	}
	return shrink(ctx, from, media, turn, l)
}

// whole reports a picture that breaks off or is damaged, which an API would refuse. It does not
// look at pictures that need too much memory, nor at WebP, whose animations are not read here.
func whole(data []byte, media string, head image.Config) error {
	if media == webpMedia || memory(head) > maxMemory {
		return nil
	}
	if _, err := decode(data, media); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return nil
}

// Size is a picture's width and height in pixels.
func Size(data []byte) (width, height int, err error) {
	head, _, err := size(data)
	return head.Width, head.Height, err
}

const (
	pngMedia  = "image/png"
	jpegMedia = "image/jpeg"
	gifMedia  = "image/gif"
	webpMedia = "image/webp"
)

// size reads what a file says of itself.
func size(data []byte) (head image.Config, media string, err error) {
	r := bytes.NewReader(data)
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		media = pngMedia
		head, err = png.DecodeConfig(r)
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		media = jpegMedia
		head, err = jpeg.DecodeConfig(r)
	case bytes.HasPrefix(data, []byte("GIF8")):
		media = gifMedia
		head, err = gif.DecodeConfig(r)
	case len(data) > 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		media = webpMedia
		head, err = webp.DecodeConfig(r)
	default:
		return head, "", ErrFormat
	}
	if err == nil && (head.Width <= 0 || head.Height <= 0) {
		err = errors.New("it has no pixels")
	}
	if err != nil {
		return head, media, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return head, media, nil
}

func decode(data []byte, media string) (image.Image, error) {
	r := bytes.NewReader(data)
	switch media {
	case pngMedia:
		return png.Decode(r)
	case jpegMedia:
		return jpeg.Decode(r)
	case gifMedia:
		return gif.Decode(r)
	}
	return webp.Decode(r)
}

// memory is what a decoded picture takes, at most.
func memory(head image.Config) int64 {
	bytes := int64(4)
	switch head.ColorModel {
	case color.RGBA64Model, color.NRGBA64Model:
		bytes = 8
	case color.Gray16Model:
		bytes = 2
	case color.GrayModel:
		bytes = 1
	}
	return int64(head.Width) * int64(head.Height) * bytes
}

// shrink scales until the file is small enough, too.
func shrink(ctx context.Context, from image.Image, media string, turn int, l Limit) (Picture, error) {
	b := from.Bounds()
	for side := l.Side; ; side = side * 3 / 4 {
		w, h := within(b.Dx(), b.Dy(), side)
		to, err := area(ctx, from, w, h)
		if err != nil {
			return Picture{}, err
		}
		to = turned(to, turn)
		data, kind, err := encode(to, media, l)
		if err != nil {
			return Picture{}, err
		}
		if len(data) <= l.Bytes || side <= smallest {
			return Picture{data, kind, to.Rect.Dx(), to.Rect.Dy(), b.Dx(), b.Dy()}, nil
		}
		side = min(side, max(w, h))
	}
}

// within is the largest size of the same shape with no side above a bound; nothing grows.
func within(w, h, side int) (int, int) {
	longer := max(w, h)
	if longer <= side {
		return w, h
	}
	return max(1, (w*side+longer/2)/longer), max(1, (h*side+longer/2)/longer)
}

// encode writes a photograph as JPEG and anything else as PNG, which keeps letters sharp, unless
// that is large.
func encode(p *image.RGBA, media string, l Limit) ([]byte, string, error) {
	var out bytes.Buffer
	if media == jpegMedia {
		err := jpeg.Encode(&out, p, &jpeg.Options{Quality: 85})
		return out.Bytes(), jpegMedia, err
	}
	if err := png.Encode(&out, p); err != nil {
		return nil, "", err
	}
	if out.Len() <= min(wordy, l.Bytes) || !p.Opaque() {
		return out.Bytes(), pngMedia, nil
	}
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, p, &jpeg.Options{Quality: 85}); err != nil {
		return nil, "", err
	}
	if photo.Len() > out.Len()/2 && out.Len() <= l.Bytes {
		return out.Bytes(), pngMedia, nil
	}
	return photo.Bytes(), jpegMedia, nil
}
