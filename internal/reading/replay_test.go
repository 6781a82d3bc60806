package reading

import (
	"encoding/json"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/jsontext"
	"github.com/clichain/clichain/internal/plaintext"
)

// Lookup returns the value at a path of a JSON object.
func Lookup(json, path string) gjson.Result {
	var o jsontext.Object
	o.Open(gjson.Parse(json))
	p := jsontext.ParsePath(path)
	return o.Get(&p)
}

// MatchesText reports whether an anchored pattern of a rule matches a text.
func MatchesText(pattern, text string) bool { return plaintext.Matcher(pattern)(text) }

// PlainText removes terminal escape sequences from a text.
func PlainText(text string) string { return plaintext.Escapes().ReplaceAllString(text, "") }

// DocumentObjects returns the objects of the JSON document in a text.
func DocumentObjects(text string) (raw []string) {
	for _, object := range jsontext.Objects([]byte(text)) {
		raw = append(raw, object.Get("@this|@ugly").Raw)
	}
	return raw
}

// ReplayFunc judges a recorded run.
type ReplayFunc func(rec Recording) (string, call.Response, *call.Error, []call.Event)

// ReplayBy returns a ReplayFunc for a spec. Compiling the patterns of a spec takes as long as judging a hundred
// short runs.
func ReplayBy(spec clispec.Spec) ReplayFunc {
	if err := spec.Validate(); err != nil {
		panic(err)
	}
	p := NewReplayer(&spec)
	return func(rec Recording) (string, call.Response, *call.Error, []call.Event) {
		out := p.Replay(rec)
		return out.Text, out.Response, out.Failure, out.Events
	}
}

// replays caches compiled specs by their JSON, because many tests use the same few specs.
var replays sync.Map

// Replay judges one recorded run with a spec.
func Replay(spec clispec.Spec, rec Recording) (string, call.Response, *call.Error, []call.Event) {
	key, err := json.Marshal(spec)
	if err != nil {
		panic(err)
	}
	replay, ok := replays.Load(string(key))
	if !ok {
		replay, _ = replays.LoadOrStore(string(key), ReplayBy(spec))
	}
	return replay.(ReplayFunc)(rec)
}
