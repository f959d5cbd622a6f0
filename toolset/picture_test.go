package toolset

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"adze/internal/files/imagescale"
	"adze/tool"
)

// TestReadScalesALargePicture: a screenshot of 6000×6000 pixels goes to the model as large as
// models look, and what only claims to be huge is refused.
func TestReadScalesALargePicture(t *testing.T) {
	dir := t.TempDir()
	var shot bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := enc.Encode(&shot, image.NewGray(image.Rect(0, 0, 6000, 6000))); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"shot.png": shot.Bytes(), "bomb.gif": []byte("GIF89a\x60\xea\x60\xea\x00\x00\x00\x00\x00"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b := newBench(t, dir)
	o := b.play(t, "read", `{"path":"shot.png"}`).outcome
	if o.Status != tool.Completed || len(o.Attachments) != 1 || !strings.Contains(o.Output, "scaled from 6000×6000 to 3072×3072 pixels") {
		t.Fatalf("%s: %s", o.Status, o.Output)
	}
	if w, h, err := imagescale.Size(o.Attachments[0].Data); err != nil || w != pictureSide || h != pictureSide {
		t.Errorf("%d×%d, %v", w, h, err)
	}
	if o := b.play(t, "read", `{"path":"bomb.gif"}`).outcome; o.Code != tool.CodeTooLarge || !strings.Contains(o.Output, "60000×60000 pixels") {
		t.Errorf("%s: %s", o.Code, o.Output)
	}
}
