package conformance_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"

	"adze/session"
	"adze/tool"
)

// scalesPictures sends a large picture, from the user and from a tool, and looks at what arrives:
// no picture may have a longer side than the API looks at.
func scalesPictures(t *testing.T, side int, connect func(url string) session.Provider, model string) {
	t.Helper()
	var bodies [][]byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/api/show" {
			io.WriteString(w, `{"capabilities":["completion","vision","tools"],"model_info":{}}`)
			return
		}
		bodies = append(bodies, body)
		http.Error(w, `{"error":{"message":"no"}}`, http.StatusBadRequest)
	}))
	defer server.Close()
	var shot bytes.Buffer
	if err := png.Encode(&shot, image.NewGray(image.Rect(0, 0, 5000, 40))); err != nil {
		t.Fatal(err)
	}
	picture := tool.Attachment{Name: "shot.png", MediaType: "image/png", Data: shot.Bytes()}
	request := session.Request{Model: model, Messages: []session.Message{
		{ID: "1", Role: session.User, Parts: []session.Part{{Kind: session.TextPart, Text: "look"}, {Kind: session.AttachmentPart, Attachment: &picture}}},
		{ID: "2", Role: session.Assistant, Parts: []session.Part{{Kind: session.CallPart, Call: &tool.RawCall{ID: "call_1", Name: "read", Arguments: `{}`}}}},
		{ID: "3", Role: session.ToolRole, Parts: []session.Part{{Kind: session.OutcomePart, Outcome: &tool.Outcome{
			Call: "call_1", Tool: "read", Status: tool.Completed, Output: "shown", Attachments: []tool.Attachment{picture}}}}},
	}}
	for range connect(server.URL).Stream(t.Context(), request) { // refused; what was sent is what counts
	}
	if len(bodies) == 0 {
		t.Fatal("nothing was sent")
	}
	found := 0
	for _, run := range regexp.MustCompile(`iVBORw0KGgo[A-Za-z0-9+/=]+`).FindAll(bodies[0], -1) {
		raw, err := base64.StdEncoding.DecodeString(string(run))
		if err != nil {
			t.Fatal(err)
		}
		head, err := png.DecodeConfig(bytes.NewReader(raw))
		if err != nil || head.Width > side || head.Width < side*9/10 {
			t.Errorf("a picture of %d×%d was sent, want %d: %v", head.Width, head.Height, side, err)
		}
		found++
	}
	if found != 2 {
		t.Errorf("%d pictures were sent, want 2", found)
	}
}
