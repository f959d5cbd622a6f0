package wire

import (
	"context"
	"fmt"
	"slices"
	"unsafe"

	"adze/internal/files/imagescale"
	"adze/session"
	"adze/tool"
)

// PictureUse holds an API's picture limits. It would scale larger ones down itself, after each
// upload.
type PictureUse struct {
	Side  int      // pixels of the longer side
	Bytes int      // per picture, before base64
	Media []string // accepted types
}

// Picture limits, from each API's guide.
var (
	// AnthropicPictures: 1568 pixels; 5 MB of base64; 2,000 pixels if there are many.
	AnthropicPictures = PictureUse{Side: 1568, Bytes: 5 << 20 * 3 / 4, Media: []string{"image/png", "image/jpeg", "image/gif", "image/webp"}}
	// OpenAIPictures: fitted into 2048×2048 at high detail, or into 1,536 patches with 32 pixels
	// each, which is less; 50 MB a request. Other servers for the format take no more.
	OpenAIPictures = PictureUse{Side: 2048, Bytes: 8 << 20, Media: []string{"image/png", "image/jpeg", "image/gif", "image/webp"}}
	// GeminiPictures: fitted into 3072×3072, in tiles of 768; 20 MB a request; no GIF.
	GeminiPictures = PictureUse{Side: 3072, Bytes: 7 << 20, Media: []string{"image/png", "image/jpeg", "image/webp"}}
	// OllamaPictures: common local models use 896 to 1,344 pixels and are slow.
	OllamaPictures = PictureUse{Side: 1344, Bytes: 4 << 20, Media: []string{"image/png", "image/jpeg"}}
)

// Limit for cached scaled pictures.
const keptPictures = 64

// Pictures returns messages with pictures scaled for an API. Each picture is scaled once: the same
// bytes in memory give the same result. Messages without pictures keep their values.
func (c *Cache) Pictures(ctx context.Context, messages []session.Message, use PictureUse) []session.Message {
	if !c.Pictured(messages) {
		return messages
	}
	out := slices.Clone(messages)
	for i, m := range messages {
		if !slices.ContainsFunc(m.Parts, pictured) {
			continue
		}
		out[i].Parts = slices.Clone(m.Parts)
		for k, p := range m.Parts {
			out[i].Parts[k] = c.fitted(ctx, p, use)
		}
	}
	return out
}

// Pictured reports whether a conversation has pictures. Of one that grew, it examines what is new.
func (c *Cache) Pictured(messages []session.Message) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range messages[c.pictureless.Examined(messages):] {
		if slices.ContainsFunc(m.Parts, pictured) {
			return true
		}
	}
	c.pictureless.MarkAll(messages)
	return false
}

// unread returns the notices about unreadable pictures, each once.
func (c *Cache) unread() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	said := c.damaged
	c.damaged = nil
	return said
}

// NewPictures reports whether there are pictures after the last answer.
func NewPictures(messages []session.Message) bool {
	for _, m := range slices.Backward(messages) {
		if m.Role == session.Assistant {
			return false
		}
		if slices.ContainsFunc(m.Parts, pictured) {
			return true
		}
	}
	return false
}

func pictured(p session.Part) bool { return len(PicturesOf(p)) > 0 }

// PicturesOf returns the pictures in a part.
func PicturesOf(p session.Part) (out []tool.Attachment) {
	if p.Attachment != nil && KindOf(*p.Attachment) == Image {
		out = append(out, *p.Attachment)
	}
	for i := 0; p.Outcome != nil && i < len(p.Outcome.Attachments); i++ {
		if a := p.Outcome.Attachments[i]; KindOf(a) == Image {
			out = append(out, a)
		}
	}
	return out
}

// fitted returns a part with its pictures scaled.
func (c *Cache) fitted(ctx context.Context, p session.Part, use PictureUse) session.Part {
	if p.Attachment != nil {
		a := c.picture(ctx, *p.Attachment, use)
		p.Attachment = &a
	}
	if p.Outcome != nil && len(p.Outcome.Attachments) > 0 {
		o := *p.Outcome
		o.Attachments = slices.Clone(o.Attachments)
		for i, a := range o.Attachments {
			o.Attachments[i] = c.picture(ctx, a, use)
		}
		p.Outcome = &o
	}
	return p
}

// picture returns a scaled picture from the cache, or scales it.
func (c *Cache) picture(ctx context.Context, a tool.Attachment, use PictureUse) tool.Attachment {
	if KindOf(a) != Image || len(a.Data) == 0 {
		return a
	}
	key := unsafe.SliceData(a.Data)
	c.mu.Lock()
	known, ok := c.pictures[key]
	c.mu.Unlock()
	if ok && known.Name == a.Name {
		return known
	}
	p, err := imagescale.Fit(ctx, a.Data, imagescale.Limit{Side: use.Side, Bytes: use.Bytes, Media: use.Media})
	switch {
	case err == nil:
		a.Data, a.MediaType = p.Data, p.Media
	case ctx.Err() != nil:
		return a
	default:
		c.mu.Lock()
		c.damaged = append(c.damaged, fmt.Sprintf("%s cannot be shown, and a note stands for it (%v)", clip(a.Name, 100), err))
		c.mu.Unlock()
		a.MediaType = "application/octet-stream" // becomes a note: the API would refuse the whole request
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pictures == nil || len(c.pictures) >= keptPictures {
		c.pictures = map[*byte]tool.Attachment{}
	}
	c.pictures[key] = a
	return a
}
