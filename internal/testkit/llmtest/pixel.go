package llmtest

import "encoding/base64"

// Pixel is a PNG of one grey pixel: adapters send no picture that cannot be read.
func Pixel() []byte {
	raw, _ := base64.StdEncoding.DecodeString(PixelText) // it is a constant
	return raw
}

// PixelText is Pixel as requests hold it.
const PixelText = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
