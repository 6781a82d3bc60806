package login

import (
	"encoding/base64"
	"errors"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tidwall/gjson"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/resettime"
)

// certainty is how much is known of a way in. The order counts.
type certainty int

const (
	absent certainty = iota
	maybe
	present
)

// maxLoginFile bounds what is read of one file.
const maxLoginFile = 1 << 20

// compiledFact is a FileFact whose patterns are compiled when its file is there
// for the first time: most files are not.
type compiledFact struct {
	clispec.FileFact
	template grammar.PathTemplate
	paths    []string // of JSON, in order
	patterns func() factPatterns
}

type factPatterns struct {
	values []*regexp.Regexp // of JSON
	text   *regexp.Regexp   // nil: any
}

func compileFact(f clispec.FileFact) compiledFact {
	c := compiledFact{FileFact: f, paths: slices.Sorted(maps.Keys(f.JSON))}
	c.template, _ = grammar.ReadPath(f.Path) // Validate has read it
	c.patterns = sync.OnceValue(func() (p factPatterns) {
		for _, path := range c.paths {
			p.values = append(p.values, plaintext.Whole(f.JSON[path]))
		}
		if f.Pattern != "" {
			p.text = regexp.MustCompile(f.Pattern)
		}
		return p
	})
	return c
}

// credential is what a file tells about a way in, without its secrets.
type credential struct {
	known   certainty
	path    string
	expires time.Time // zero: not told
	renews  bool      // the CLI renews it by itself
}

// expired reports whether the time of the credential is over.
func (c credential) expired(now time.Time) bool { return !c.expires.IsZero() && now.After(c.expires) }

// factReader reads files of logins and remembers what they told, until they
// change. The zero value works; it is safe for concurrent use.
type factReader struct {
	mu   sync.Mutex
	seen map[factKey]readFact
}

type factKey struct {
	fact *compiledFact
	path string
}

type readFact struct {
	stamp localfile.Stamp
	told  credential
}

// look says what is known of a fact, by the first of its places that has it.
func (r *factReader) look(f *compiledFact, at grammar.Place) credential {
	paths, ok := f.template.Paths(at)
	if !ok {
		return credential{known: maybe}
	}
	best := credential{}
	for _, path := range paths {
		if told := r.read(f, path); told.known > best.known {
			best = told
		}
	}
	return best
}

func (r *factReader) read(f *compiledFact, path string) credential {
	info, err := os.Stat(path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return credential{}
		}
		return credential{known: maybe, path: path}
	}
	stamp := localfile.StampOfInfo(info)
	key := factKey{f, path}
	r.mu.Lock()
	defer r.mu.Unlock()
	if old, ok := r.seen[key]; ok && old.stamp == stamp {
		return old.told
	}
	told := f.open(path)
	if r.seen == nil || len(r.seen) > 1000 { // of ever new working directories
		r.seen = map[factKey]readFact{}
	}
	r.seen[key] = readFact{stamp, told}
	return told
}

// open reads a file that is there.
func (f *compiledFact) open(path string) credential {
	told := credential{known: present, path: path}
	if len(f.paths) == 0 && f.Pattern == "" && f.Expires == "" {
		return told // that it is there is enough
	}
	text, err := localfile.Read(path, maxLoginFile)
	if err != nil {
		told.known = maybe
		return told
	}
	told.known = f.holds(text)
	if doc := string(text); told.known == present && f.Expires != "" && gjson.Valid(doc) {
		told.expires = readExpiry(gjson.Get(doc, f.Expires))
		told.renews = f.Refresh != "" && gjson.Get(doc, f.Refresh).String() != ""
	}
	return told
}

// holds reports whether a text is what the fact says. What should be JSON and
// is none may be.
func (f *compiledFact) holds(text []byte) certainty {
	patterns := f.patterns()
	if patterns.text != nil && !patterns.text.Match(text) {
		return absent
	}
	if len(f.paths) == 0 {
		return present
	}
	doc := strings.TrimPrefix(string(text), "\ufeff")
	if !gjson.Valid(doc) {
		return maybe
	}
	for i, path := range f.paths {
		value := gjson.Get(doc, path)
		if value.Type == gjson.Null || !patterns.values[i].MatchString(value.String()) {
			return absent
		}
	}
	return present
}

// readExpiry reads a time in one of the forms that credentials have.
func readExpiry(value gjson.Result) time.Time {
	if value.Type == gjson.Number {
		return resettime.Epoch(value.Float())
	}
	if t, err := time.Parse(time.RFC3339, value.String()); err == nil {
		return t
	}
	parts := strings.Split(value.String(), ".")
	if len(parts) != 3 {
		return time.Time{}
	}
	claims, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil || !gjson.ValidBytes(claims) {
		return time.Time{}
	}
	return resettime.Epoch(gjson.GetBytes(claims, "exp").Float())
}
