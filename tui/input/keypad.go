package input

import uv "github.com/charmbracelet/ultraviolet"

// keypad adds the text to keypad keys, which terminals with the kitty keyboard protocol report with
// separate codes.
func keypad(k uv.KeyPressEvent) uv.KeyPressEvent {
	if k.Text != "" || k.Mod&^(uv.ModNumLock|uv.ModCapsLock) != 0 {
		return k
	}
	switch {
	case uv.KeyKp0 <= k.Code && k.Code <= uv.KeyKp9:
		k.Text = string('0' + k.Code - uv.KeyKp0)
	case k.Code == uv.KeyKpDecimal:
		k.Text = "."
	case k.Code == uv.KeyKpSep || k.Code == uv.KeyKpComma:
		k.Text = ","
	case k.Code == uv.KeyKpPlus:
		k.Text = "+"
	case k.Code == uv.KeyKpMinus:
		k.Text = "-"
	case k.Code == uv.KeyKpMultiply:
		k.Text = "*"
	case k.Code == uv.KeyKpDivide:
		k.Text = "/"
	case k.Code == uv.KeyKpEqual:
		k.Text = "="
	}
	return k
}
