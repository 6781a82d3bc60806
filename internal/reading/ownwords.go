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

// jsonStart matches a line that begins like JSON, whole or cut short.
var jsonStart = pattern.Of(`^[\s\x{feff}]*(?:\{|\[\s*(?:\{|$))`)

// openedOverLines matches where a document over several lines begins, in a line with something in front of it.
var openedOverLines = pattern.Of(`[{\[]\s*\n\s*["{]`)

// plain is what the CLI itself may have said on stdout, in the modes with events. JSON is left out even where it does
// not parse: it may hold the model's own text. The caller holds mu.
func (r *Reading) plain(output clispec.OutputMode, stray string) string {
	document := output == clispec.OutputJSON
	if at := openedOverLines().FindStringIndex(stray); document && at != nil {
		stray = stray[:at[0]]
	}
	var own, after strings.Builder // after a broken event: its rest may stand on a later line, which ends in a bracket
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

// printsEvents reports whether all that text mode printed is a stream of events: one with a session, as an answer may
// have the form of other events, or any events where the CLI has begun such a stream before. The caller holds mu.
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

// ownWords leaves out the events that stand behind something on a line, but for those that tell of a failure: their
// words may be the model's. lost: an event, or a part of one, was not read. On stdout, JSON that is broken or that no
// rule knows is left out too, unless it is the answer of a service. The caller holds mu.
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
		if !copied { // the reader of the stream may still need the line
			line, copied = bytes.Clone(line), true
		}
		line = append(line[:at], line[end:]...)
		from = at
	}
}

// objectStart is where the next object begins that has a member, or -1.
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

// tells reports whether rules make events of an object, and whether one of them tells of a failure.
func (r *Reading) tells(object []byte) (known, fails bool) {
	items, _ := r.Program.Line(&r.mirror, object)
	for i := range items {
		fails = fails || tellsFailure(&items[i])
	}
	return len(items) > 0, fails
}

// serviceAnswer reports whether an object is the answer of a model service that refuses a request.
func serviceAnswer(object []byte) bool {
	o, ok := jsontext.ParseObject(object)
	return ok && (o.Get("error.message").Type == gjson.String || judge.ReasonOfStatus(int(o.Get("code").Int())) != "")
}
