package wire

import (
	"bytes"
	"image"
	"image/gif"
	"image/png"
	"strings"
	"testing"

	"adze/session"
	"adze/tool"
)

func pngOf(t *testing.T, w, h int) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestPicturesAreScaledOnce(t *testing.T) {
	var moving bytes.Buffer
	if err := gif.Encode(&moving, image.NewGray(image.Rect(0, 0, 20, 20)), nil); err != nil {
		t.Fatal(err)
	}
	shot := tool.Attachment{Name: "shot.png", MediaType: "image/png", Data: pngOf(t, 4000, 1000)}
	small := tool.Attachment{Name: "small.png", MediaType: "image/png", Data: pngOf(t, 100, 100)}
	broken := tool.Attachment{Name: "broken.png", MediaType: "image/png", Data: []byte("\x89PNG\r\n\x1a\n")}
	text := tool.Attachment{Name: "a.txt", MediaType: "text/plain", Data: []byte("text")}
	history := []session.Message{
		{ID: "1", Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: "look"}, {Kind: session.AttachmentPart, Attachment: &shot}}},
		{ID: "2", Role: session.Assistant, Parts: []session.Part{{Kind: session.TextPart, Text: "yes"}}},
		{ID: "3", Role: session.ToolRole, Parts: []session.Part{{Kind: session.OutcomePart, Outcome: &tool.Outcome{
			Call: "c", Attachments: []tool.Attachment{small, broken, text, {Name: "m.gif", MediaType: "image/gif", Data: moving.Bytes()}}}}}},
	}
	var c Cache
	got := c.Pictures(t.Context(), history, GeminiPictures)
	first := got[0].Parts[1].Attachment
	head, err := png.DecodeConfig(bytes.NewReader(first.Data))
	if err != nil || head.Width != 3072 || head.Height != 768 {
		t.Errorf("%d×%d, %v", head.Width, head.Height, err)
	}
	kept := got[2].Parts[0].Outcome.Attachments
	for i, a := range []tool.Attachment{small, {}, text} {
		if i == 1 { // a note stands for what cannot be read
			if KindOf(kept[i]) != Other {
				t.Errorf("a broken picture is sent as %s", kept[i].MediaType)
			}
			continue
		}
		if !bytes.Equal(kept[i].Data, a.Data) || kept[i].MediaType != a.MediaType {
			t.Errorf("%s was changed", a.Name)
		}
	}
	if kept[3].MediaType != "image/png" {
		t.Errorf("the GIF is sent as %s, which the API refuses", kept[3].MediaType)
	}
	if &got[1].Parts[0] != &history[1].Parts[0] || history[0].Parts[1].Attachment.Data[0] != shot.Data[0] || len(history[0].Parts[1].Attachment.Data) != len(shot.Data) {
		t.Error("the history itself was touched")
	}
	again := c.Pictures(t.Context(), history, GeminiPictures)
	if &again[0].Parts[1].Attachment.Data[0] != &first.Data[0] {
		t.Error("the picture was scaled twice")
	}
	plain := []session.Message{history[1]}
	if same := c.Pictures(t.Context(), plain, GeminiPictures); &same[0] != &plain[0] {
		t.Error("messages without pictures were copied")
	}
}

func TestAPictureThatIsTooLargeBecomesANote(t *testing.T) {
	var c Cache
	m := []session.Message{{Role: session.User, Parts: []session.Part{{Kind: session.AttachmentPart,
		Attachment: &tool.Attachment{Name: "b.png", MediaType: "image/png", Data: hugeGIF()}}}}}
	a := c.Pictures(t.Context(), m, AnthropicPictures)[0].Parts[0].Attachment
	if KindOf(*a) == Image || !strings.Contains(Note(*a), "b.png") {
		t.Errorf("%s", a.MediaType)
	}
}

// hugeGIF says in a few bytes that it has 60,000×60,000 pixels.
func hugeGIF() []byte { return []byte("GIF89a\x60\xea\x60\xea\x00\x00\x00") }
