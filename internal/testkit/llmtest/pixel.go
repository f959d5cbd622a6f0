package llmtest

import "encoding/base64"

// Pixel returns a PNG with one gray pixel: adapters send no unreadable picture.
func Pixel() []byte {
	raw, _ := base64.StdEncoding.DecodeString(PixelText) // it is a constant
	return raw
}

// PixelText is Pixel in base64, as in requests.
const PixelText = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
