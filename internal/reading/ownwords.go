package reading

import (
	"bytes"
	"strings"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/jsontext"
	"github.com/clichain/clichain/internal/judge"
	"github.com/clichain/clichain/internal/pattern"
	"github.com/tidwall/gjson"
)

// jsonStart matches a line that begins like JSON, complete or truncated.
var jsonStart = pattern.Of(`^[\s\x{feff}]*(?:\{|\[\s*(?:\{|$))`)

// openedOverLines matches the beginning of a multi-line document after other text on the same line.
var openedOverLines = pattern.Of(`[{\[]\s*\n\s*["{]`)

// plain returns text on stdout that may be the CLI's own, in the modes with events. It excludes JSON even if it
// is invalid, because JSON may contain the model's text. The caller holds mu.
func (r *Reading) plain(output clispec.OutputMode, stray string) string {
	document := output == clispec.OutputJSON
	if at := openedOverLines().FindStringIndex(stray); document && at != nil {
		stray = stray[:at[0]]
	}
	var own, after strings.Builder // after a broken event, whose rest may be on a later line that ends in a bracket
	broken := false
	for line := range strings.Lines(stray) {
		if broken && strings.HasSuffix(strings.TrimSpace(line), "}") {
			after.Reset()
			broken = false
			continue
		}
		words, lost := []byte(nil), true
		if !jsonStart().MatchString(line) {
			words, lost = r.ownWords([]byte(line), true)
		}
		if broken {
			after.Write(words)
		} else {
			own.Write(words)
		}
		if lost && document {
			break // the rest belongs to the document
		}
		broken = broken || lost && objectStart([]byte(line), 0) >= 0
	}
	return own.String() + after.String()
}

// printsEvents reports whether the whole output in text mode is a stream of events. It requires an event with a
// session, because an answer may have the form of other events. If the CLI has begun such a stream before, any
// events suffice. The caller holds mu.
func (r *Reading) printsEvents(stdout string) (events bool) {
	for line := range strings.Lines(stdout) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		items, ok := r.Program.Line(&r.mirror, []byte(line))
		if !ok {
			return false
		}
		for i := range items {
			events = events || r.AfterStream || items[i].Session != ""
		}
	}
	return events
}

// ownWords removes events that follow other text on a line, except events that report a failure, because the
// text of an event may be the model's. lost means that an event, or part of one, was not read. On stdout, it
// also removes JSON that is broken or that no rule matches, unless the JSON is an error response of a model
// service. The caller holds mu.
func (r *Reading) ownWords(line []byte, onStdout bool) (own []byte, lost bool) {
	copied := false
	for from := 0; ; {
		at := objectStart(line, from)
		if at < 0 {
			return line, lost
		}
		end, ok := jsontext.Value(line[at:], jsontext.MaxDepth)
		if end += at; !ok {
			if onStdout {
				return line[:at], true
			}
			return line, lost
		}
		known, fails := r.tells(line[at:end])
		lost = lost || known && !fails
		if fails || !known && (!onStdout || serviceAnswer(line[at:end])) {
			from = end
			continue
		}
		if !copied { // the stream reader may still need the line
			line, copied = bytes.Clone(line), true
		}
		line = append(line[:at], line[end:]...)
		from = at
	}
}

// objectStart returns the position of the next object that has a member, or -1.
func objectStart(line []byte, from int) int {
	for at := from; ; at++ {
		i := bytes.IndexByte(line[at:], '{')
		if i < 0 {
			return -1
		}
		at += i
		if bytes.HasPrefix(bytes.TrimLeft(line[at+1:], " \t\r\n"), []byte{'"'}) {
			return at
		}
	}
}

// tells reports whether rules decode events from an object, and whether one of the events reports a failure.
func (r *Reading) tells(object []byte) (known, fails bool) {
	items, _ := r.Program.Line(&r.mirror, object)
	for i := range items {
		fails = fails || tellsFailure(&items[i])
	}
	return len(items) > 0, fails
}

// serviceAnswer reports whether an object is the error response of a model service.
func serviceAnswer(object []byte) bool {
	o, ok := jsontext.ParseObject(object)
	return ok && (o.Get("error.message").Type == gjson.String || judge.ReasonOfStatus(int(o.Get("code").Int())) != "")
}
