package openai

import (
	"slices"
	"strings"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
)

// cutter ends a text before the first of its stop texts. The text can come in pieces, and then the cutter holds back
// an end that could be the begin of a stop text.
type cutter struct {
	stops   []string
	held    string
	stopped bool // the text has ended
}

func newCutter(stops []string) *cutter { return &cutter{stops: stops} }

// add takes the next piece and returns the text to send. After stopped there must be no other piece.
func (c *cutter) add(piece string) string {
	text := c.held + piece
	c.held = ""
	if end := c.firstStop(text); end >= 0 {
		c.stopped = true
		return text[:end]
	}
	keep := c.openEnd(text)
	c.held = text[keep:]
	return text[:keep]
}

// rest returns the text that the cutter holds back, after the last piece.
func (c *cutter) rest() string {
	text := c.held
	c.held = ""
	return text
}

// firstStop returns the offset of the stop text that is complete first, or -1. So the pieces of the text make no
// difference.
func (c *cutter) firstStop(text string) int {
	first, end := -1, 0
	for _, stop := range c.stops {
		at := strings.Index(text, stop)
		if complete := at + len(stop); at >= 0 && (first < 0 || complete < end || complete == end && at < first) {
			first, end = at, complete
		}
	}
	return first
}

// openEnd returns the offset of the longest end of the text with which a stop text begins.
func (c *cutter) openEnd(text string) int {
	open := len(text)
	for _, stop := range c.stops {
		for at := max(len(text)-len(stop)+1, 0); at < open; at++ {
			if strings.HasPrefix(stop, text[at:]) {
				open = at
			}
		}
	}
	return open
}

// response returns a whole answer with its text cut.
func (c *cutter) response(resp *clichain.Response) *clichain.Response {
	end := c.firstStop(resp.Text)
	if end < 0 {
		return resp
	}
	cut := *resp
	cut.Text = resp.Text[:end]
	cut.Flags = slices.DeleteFunc(slices.Clone(resp.Flags), func(f call.Flag) bool { return f == call.FlagTruncated })
	return &cut
}
