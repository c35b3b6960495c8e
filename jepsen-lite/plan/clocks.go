package plan

// Timed reports whether claim A can be tested: no clock leaves the margin.
func (p *Plan) Timed() bool {
	fastest, slowest := p.rates()
	usable := float64(p.TTL - p.Margin)
	return usable*fastest <= float64(p.TTL)*slowest
}

// rates returns the fastest rate of any node's clock and the slowest of any
// replica's.
func (p *Plan) rates() (fastest, slowest float64) {
	fastest, slowest = 1, 1
	for _, f := range p.Faults {
		if f.Kind != Clock || f.Rate == nil {
			continue
		}
		for _, host := range f.Targets {
			if isNode(host) {
				fastest = max(fastest, *f.Rate)
			} else {
				slowest = min(slowest, *f.Rate)
			}
		}
	}
	return fastest, slowest
}
