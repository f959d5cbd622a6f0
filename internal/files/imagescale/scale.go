// Package imagescale shrinks images to the size used by models: a model sees a limited number of
// pixels, and more only cost bytes in every request.
//
// The one rule: an image's dimensions are read first. An image that would need more than maxMemory
// is refused, so that a tiny file cannot allocate gigabytes.
//
// Start reading at Fit. Scaling averages over areas (area.go), which keeps small text legible.
// Photographs are rotated as their EXIF data requires (turn.go), since that is lost.
//
// Known limits: only an animation's first frame is kept; color profiles are dropped.
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

// Limit describes the images that a model accepts.
type Limit struct {
	Side  int      // pixels on the longer side
	Bytes int      // file size
	Media []string // media types; if empty, all supported ones
}

// Picture is an image within a limit.
type Picture struct {
	Data          []byte
	Media         string
	Width, Height int
	// FromWidth and FromHeight are the original size, or 0 if the image is unchanged.
	FromWidth, FromHeight int
}

// Scaled reports whether the image was scaled.
func (p Picture) Scaled() bool { return p.FromWidth > 0 }

// Bounds for the input.
const (
	// maxMemory bounds the decoded image: 6000×6000 with 16 bits a channel, or about 80 million
	// ordinary pixels.
	maxMemory = 320 << 20
	// wordy is the PNG size from which a JPEG is tried, and used if it is half as large.
	wordy = 1 << 20
	// smallest is the side length below which an image is not shrunk to save bytes.
	smallest = 256
)

// Errors for images that cannot be made to fit.
var (
	ErrLarge  = errors.New("too many pixels")
	ErrFormat = errors.New("not a picture that can be read")
)

// Fit returns an image within a limit: the original bytes if they already are. Errors wrap
// ErrLarge, ErrFormat or ctx's.
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

// whole detects a truncated or damaged image, which an API would refuse. It skips images that need
// too much memory, and WebP, whose animations are not supported.
func whole(data []byte, media string, head image.Config) error {
	if media == webpMedia || memory(head) > maxMemory {
		return nil
	}
	if _, err := decode(data, media); err != nil {
		return fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return nil
}

// Size returns an image's width and height in pixels.
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

// memory returns the maximum size of a decoded image.
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

// shrink scales until the file is small enough as well.
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

// within returns the largest size with the same aspect ratio and no side above a bound, without
// enlarging.
func within(w, h, side int) (int, int) {
	longer := max(w, h)
	if longer <= side {
		return w, h
	}
	return max(1, (w*side+longer/2)/longer), max(1, (h*side+longer/2)/longer)
}

// encode writes a photograph as JPEG and other images as PNG, which keeps text sharp, unless that
// is large.
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
