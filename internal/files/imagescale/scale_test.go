package imagescale

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"testing"
)

// painted is a picture of random blocks; of a letter's width, so that PNG is small.
func painted(w, h int) *image.NRGBA {
	rng := rand.New(rand.NewPCG(uint64(w), uint64(h)))
	p := image.NewNRGBA(image.Rect(0, 0, w, h))
	var colours [64]color.NRGBA
	for i := range colours {
		colours[i] = color.NRGBA{uint8(rng.Uint32()), uint8(rng.Uint32()), uint8(rng.Uint32()), 255}
	}
	for y := range h {
		for x := range w {
			p.SetNRGBA(x, y, colours[(x/9*7+y/9*13)%64])
		}
	}
	return p
}

func asPNG(t testing.TB, p image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, p); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func asJPEG(t testing.TB, p image.Image) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := jpeg.Encode(&out, p, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestWhatFitsKeepsItsBytes(t *testing.T) {
	l := Limit{Side: 100, Bytes: 1 << 20}
	var anim bytes.Buffer
	if err := gif.Encode(&anim, painted(100, 40), nil); err != nil {
		t.Fatal(err)
	}
	webp, _ := base64.StdEncoding.DecodeString("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA")
	for media, data := range map[string][]byte{
		pngMedia: asPNG(t, painted(100, 50)), jpegMedia: asJPEG(t, painted(40, 100)), gifMedia: anim.Bytes(), webpMedia: webp,
	} {
		p, err := Fit(t.Context(), data, l)
		if err != nil || p.Scaled() || p.Media != media || !bytes.Equal(p.Data, data) {
			t.Errorf("%s: %v, scaled %v", media, err, p.Scaled())
		}
		p, err = Fit(t.Context(), data, Limit{Side: 100, Bytes: 1 << 20, Media: []string{"image/x"}})
		if err != nil || !p.Scaled() || len(p.Data) == 0 {
			t.Errorf("%s to another kind: %v", media, err)
		}
	}
}

func TestScalesToTheSide(t *testing.T) {
	for _, c := range []struct{ w, h, side, wantW, wantH int }{
		{400, 200, 100, 100, 50}, {200, 400, 100, 50, 100}, {301, 299, 150, 150, 149}, {1000, 1, 100, 100, 1}, {101, 7, 100, 100, 7},
	} {
		for _, data := range [][]byte{asPNG(t, painted(c.w, c.h)), asJPEG(t, painted(c.w, c.h))} {
			p, err := Fit(t.Context(), data, Limit{Side: c.side, Bytes: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			w, h, err := Size(p.Data)
			if err != nil || w != c.wantW || h != c.wantH || p.Width != w || p.Height != h || p.FromWidth != c.w || p.FromHeight != c.h {
				t.Errorf("%d×%d to %d: %d×%d, %+v, %v", c.w, c.h, c.side, w, h, p.FromWidth, err)
			}
		}
	}
}

// TestAveragesTheArea compares with sums over each pixel's share, in floating point.
func TestAveragesTheArea(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		w, h := 1+rng.IntN(40), 1+rng.IntN(40)
		from := painted(w, h)
		toW, toH := 1+rng.IntN(w), 1+rng.IntN(h)
		to, err := area(t.Context(), from, toW, toH)
		if err != nil {
			t.Fatal(err)
		}
		for y := range toH {
			for x := range toW {
				want := [3]float64{}
				for sy := range h {
					for sx := range w {
						share := overlap(sx, w, x, toW) * overlap(sy, h, y, toH)
						c := from.NRGBAAt(sx, sy)
						for i, v := range []uint8{c.R, c.G, c.B} {
							want[i] += share * float64(v)
						}
					}
				}
				got := to.RGBAAt(x, y)
				for i, v := range []uint8{got.R, got.G, got.B} {
					if d := float64(v) - want[i]; d > 0.51 || d < -0.51 {
						t.Fatalf("%d×%d to %d×%d at %d,%d: %d, want %.2f", w, h, toW, toH, x, y, v, want[i])
					}
				}
			}
		}
	}
}

// overlap is the share of new pixel x that source pixel s covers.
func overlap(s, width, x, w int) float64 {
	step := float64(width) / float64(w)
	from, to := max(float64(s), float64(x)*step), min(float64(s+1), float64(x+1)*step)
	return max(0, to-from) / step
}

func TestKeepsWhatIsTransparent(t *testing.T) {
	from := image.NewNRGBA(image.Rect(0, 0, 200, 200))
	for i := range 100 {
		for y := range 200 {
			from.SetNRGBA(i, y, color.NRGBA{200, 100, 50, 255})
		}
	}
	p, err := Fit(t.Context(), asPNG(t, from), Limit{Side: 50, Bytes: 1 << 20})
	if err != nil || p.Media != pngMedia {
		t.Fatal(p.Media, err)
	}
	got, err := png.Decode(bytes.NewReader(p.Data))
	if err != nil {
		t.Fatal(err)
	}
	left, right := color.NRGBAModel.Convert(got.At(10, 10)), color.NRGBAModel.Convert(got.At(40, 10))
	if left != (color.NRGBA{200, 100, 50, 255}) || right.(color.NRGBA).A != 0 {
		t.Errorf("%v, %v", left, right)
	}
}

// TestTurnsPhotographs turns a picture with one bright corner in all eight ways.
func TestTurnsPhotographs(t *testing.T) {
	p := image.NewGray(image.Rect(0, 0, 160, 80))
	for y := range 40 {
		for x := range 80 {
			p.SetGray(x, y, color.Gray{255})
		}
	}
	plain := asJPEG(t, p)
	// The corner in which the bright part is when the picture is held as the tag says.
	corners := [9]image.Point{1: {0, 0}, 2: {1, 0}, 3: {1, 1}, 4: {0, 1}, 5: {0, 0}, 6: {1, 0}, 7: {1, 1}, 8: {0, 1}}
	for turn := 1; turn <= 8; turn++ {
		for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
			got, err := Fit(t.Context(), tagged(plain, turn, order), Limit{Side: 40, Bytes: 1 << 20})
			if err != nil {
				t.Fatal(err)
			}
			img, err := jpeg.Decode(bytes.NewReader(got.Data))
			if err != nil {
				t.Fatal(err)
			}
			w, h := img.Bounds().Dx(), img.Bounds().Dy()
			if (w > h) != (turn < 5) || got.Width != w || got.Height != h {
				t.Errorf("turn %d: %d×%d", turn, w, h)
			}
			at := corners[turn]
			if r, _, _, _ := img.At(w/4+at.X*w/2, h/4+at.Y*h/2).RGBA(); r < 0xc000 {
				t.Errorf("turn %d: the bright corner is not at %v", turn, at)
			}
		}
	}
	for cut := range 40 {
		orientation(tagged(plain, 6, binary.BigEndian)[:cut]) // must not panic
	}
}

// tagged puts an EXIF block with an orientation into a JPEG.
func tagged(data []byte, turn int, order binary.AppendByteOrder) []byte {
	tiff := []byte("MM\x00*")
	if order == binary.AppendByteOrder(binary.LittleEndian) {
		tiff = []byte("II*\x00")
	}
	tiff = order.AppendUint32(tiff, 8)
	tiff = order.AppendUint16(tiff, 2)
	for _, entry := range [][2]uint16{{0x0100, 9}, {0x0112, uint16(turn)}} {
		tiff = order.AppendUint16(tiff, entry[0])
		tiff = order.AppendUint16(tiff, 3)
		tiff = order.AppendUint32(tiff, 1)
		tiff = order.AppendUint16(tiff, entry[1])
		tiff = append(tiff, 0, 0)
	}
	body := append([]byte("Exif\x00\x00"), tiff...)
	out := append([]byte{}, data[:2]...)
	out = append(out, 0xff, 0xe1)
	out = binary.BigEndian.AppendUint16(out, uint16(len(body)+2))
	return append(append(out, body...), data[2:]...)
}

func TestKeepsToTheBytes(t *testing.T) {
	noise := image.NewNRGBA(image.Rect(0, 0, 500, 500))
	rng := rand.New(rand.NewPCG(5, 6))
	for i := range noise.Pix {
		noise.Pix[i] = uint8(rng.Uint32()) | uint8(i&3/3*255)
	}
	for i := 3; i < len(noise.Pix); i += 4 {
		noise.Pix[i] = 255
	}
	data := asPNG(t, noise)
	p, err := Fit(t.Context(), data, Limit{Side: 2000, Bytes: 100 << 10})
	if err != nil || len(p.Data) > 100<<10 || p.Width < smallest {
		t.Errorf("%d bytes at %d×%d, %v", len(p.Data), p.Width, p.Height, err)
	}
}

// TestBombsAreRefusedUnread: a file of a few bytes that claims to be huge.
func TestBombsAreRefusedUnread(t *testing.T) {
	head := binary.BigEndian.AppendUint32(nil, 60000)
	head = binary.BigEndian.AppendUint32(head, 60000)
	head = append(head, 8, 6, 0, 0, 0)
	chunk := append([]byte("IHDR"), head...)
	bomb := append([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d"), chunk...)
	bomb = binary.BigEndian.AppendUint32(bomb, crc32.ChecksumIEEE(chunk))
	if _, err := Fit(t.Context(), bomb, Limit{Side: 100, Bytes: 1 << 20}); !errors.Is(err, ErrLarge) {
		t.Errorf("%v", err)
	}
	for _, data := range [][]byte{nil, []byte("GIF8"), bomb[:20], []byte("\xff\xd8\xff"), []byte("text"), []byte("RIFF\x00\x00\x00\x00WEBPVP8 ")} {
		if _, err := Fit(t.Context(), data, Limit{Side: 100, Bytes: 1 << 20}); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v", data, err)
		}
	}
	cut := asPNG(t, painted(300, 300))
	if _, err := Fit(t.Context(), cut[:len(cut)/2], Limit{Side: 100, Bytes: 1 << 20}); !errors.Is(err, ErrFormat) {
		t.Errorf("half a picture: %v", err)
	}
}

func TestStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Fit(ctx, asPNG(t, painted(300, 300)), Limit{Side: 100, Bytes: 1 << 20}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func FuzzFit(f *testing.F) {
	f.Add(asPNG(f, painted(30, 20)))
	f.Add(tagged(asJPEG(f, painted(30, 20)), 6, binary.LittleEndian))
	f.Fuzz(func(t *testing.T, data []byte) {
		if w, h, err := Size(data); err == nil && w*h > 1<<20 {
			return // no time for large ones
		}
		p, err := Fit(t.Context(), data, Limit{Side: 16, Bytes: 1 << 20})
		if err == nil && max(p.Width, p.Height) > 16 {
			t.Errorf("%d×%d", p.Width, p.Height)
		}
	})
}

// BenchmarkFit scales a screenshot of 6000×6000 pixels.
func BenchmarkFit(b *testing.B) {
	for name, data := range map[string][]byte{"png": asPNG(b, painted(6000, 6000)), "jpeg": asJPEG(b, painted(6000, 6000))} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Fit(b.Context(), data, Limit{Side: 1568, Bytes: 4 << 20}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
