package clichain

// WithoutCommentary is what a reader sees of a run's events.
func WithoutCommentary(events []Event, answered bool) (seen []Event) {
	var c commentary
	for _, e := range events {
		seen = append(seen, c.Add(e)...)
	}
	return append(seen, c.End(answered)...)
}
