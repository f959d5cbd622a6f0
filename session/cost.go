package session

import "errors"

// cost sums up what the requests of a turn cost. One that nobody can price makes the sum unknown, for ever:
// a sum of some would be read as that of all.
type cost struct {
	usd     float64
	unknown bool
}

// known returns the sum in USD, or nil.
func (c cost) known() *float64 {
	if c.unknown {
		return nil
	}
	return &c.usd
}

// costOf is what one request costs.
func (c *Config) costOf(provider, model string, used Usage) cost {
	if c.Price == nil {
		return cost{unknown: true}
	}
	usd, known := c.Price(provider, model, used)
	return cost{usd, !known}
}

// unanswered reports a request that the provider refused, or that did not reach it: nobody charges for that.
// A request that was aborted may have been charged, and nobody says how much.
func unanswered(d *draft, err error) bool {
	var failure *ProviderError
	return errors.As(err, &failure) && d.done.Usage == (Usage{}) && len(d.message.Parts) == 0
}
