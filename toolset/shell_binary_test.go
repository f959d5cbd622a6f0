package toolset

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"adze/internal/sandbox/proc"
)

func TestBinaryOutputIsSaid(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 4000)
	for i := range noise {
		noise[i] = byte(rng.Uint32())
	}
	var picture bytes.Buffer
	img := image.NewRGBA(image.Rect(0, 0, 40, 40))
	for i := range 1600 {
		img.Set(i%40, i/40, color.RGBA{noise[i], noise[i+1], noise[i+2], 255})
	}
	if err := png.Encode(&picture, img); err != nil {
		t.Fatal(err)
	}
	elf := "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 60) + string(noise)
	for name, c := range map[string]struct {
		text proc.Text
		want []string
	}{
		"a picture":             {proc.Text{Head: picture.String()}, []string{"[binary output (PNG image): "}},
		"a program":             {proc.Text{Head: elf}, []string{"ELF executable", "4067 bytes not shown"}},
		"text around it":        {proc.Text{Head: "first line\nsecond\n" + elf + "\nlast line of text\n"}, []string{"first line\nsecond\n[binary", "]\nlast line of text\n"}},
		"left out in the midst": {proc.Text{Head: elf, OmittedBytes: 1000, Tail: string(noise)}, []string{"9067 bytes not shown"}},
	} {
		got := viewOf(c.text, (&Shell{}).room()).text("")
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q has no %q", name, got[:min(len(got), 300)], want)
			}
		}
		if len(got) > 300 || strings.Count(got, "\uFFFD") > 0 {
			t.Errorf("%s: %d bytes are shown", name, len(got))
		}
	}
}

func TestTextIsShownWhateverItsLetters(t *testing.T) {
	for name, s := range map[string]string{
		"NUL-separated": strings.Repeat("some/file/name.go\x00", 50),
		"Latin-1":       strings.Repeat("Gr\xfc\xdfe aus K\xf6ln\n", 50),
		"Chinese":       strings.Repeat("你好，世界\n", 50),
		"coloured":      strings.Repeat("\x1b[31mred\x1b[0m and \a\b plain\r\n", 50),
		"a few marks":   strings.Repeat("plain text of some length\n", 50) + "\x01\x02\x03",
		"emoji":         strings.Repeat("✓ 🙂 ok\n", 50),
	} {
		if isBinary(proc.Text{Head: s}) {
			t.Errorf("%s is taken for binary", name)
		}
	}
	if got := plainText("a\x00b"); got != "a␀b" {
		t.Errorf("%q", got)
	}
}
