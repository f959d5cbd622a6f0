package hypertext

import "strings"

// PictureType is the media type of a picture by its content. It is empty for all that a browser
// does not show without running anything.
func PictureType(data []byte) string {
	head := string(data[:min(len(data), 16)])
	switch {
	case strings.HasPrefix(head, "\x89PNG\r\n\x1a\n"):
		return "image/png"
	case strings.HasPrefix(head, "\xff\xd8\xff"):
		return "image/jpeg"
	case strings.HasPrefix(head, "GIF87a"), strings.HasPrefix(head, "GIF89a"):
		return "image/gif"
	case strings.HasPrefix(head, "RIFF") && len(head) == 16 && head[8:14] == "WEBPVP":
		return "image/webp"
	}
	return ""
}
