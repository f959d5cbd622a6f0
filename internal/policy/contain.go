package policy

import (
	"slices"

	"adze/tool"
)

// Contained is the layer of commands that nobody is asked about because the sandbox holds them.
const Contained Layer = "sandbox"

// contain answers for a command whether the sandbox makes a question needless: in mode auto, where it is full, all that
// nobody wants to be asked about runs there. What a rule asks for or may forbid, and files that hold secrets, are asked for
// as ever: a sandbox holds what a command does, not what the model is shown.
func (p *Policy) contain(mode Mode, v verdict) verdict {
	if v.effect == Deny {
		return v
	}
	if why := v.need.Outside; why != "" {
		v.effect, v.rule, v.layer, v.offers = Ask, "", layerOf(mode), nil
		v.reason = "running it again outside the sandbox needs approval: " + why
		return v
	}
	secret := slices.ContainsFunc(v.inner, func(part verdict) bool { return part.careful })
	if mode != Auto || v.effect != Ask || v.firm || v.rule != "" || secret || !v.need.Caged || p.holds == nil || !p.holds() {
		return v
	}
	v.effect, v.layer, v.reason, v.run = Allow, Contained, "", &tool.Judged{Caged: true}
	return v
}
