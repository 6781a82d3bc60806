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

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/grammar"
	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/resettime"
	"github.com/tidwall/gjson"
)

// certainty says how sure it is that a credential is there, from low to high.
type certainty int

const (
	absent certainty = iota
	maybe
	present
)

const maxLoginFile = 1 << 20

// compiledFact is a FileFact whose patterns are compiled when its file is first found, because most files do not exist.
type compiledFact struct {
	clispec.FileFact
	template grammar.PathTemplate
	paths    []string // the keys of JSON, sorted
	patterns func() factPatterns
}

type factPatterns struct {
	values []*regexp.Regexp // for the values at paths
	text   *regexp.Regexp   // for the whole text; nil matches any
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

// credential is what a file says about a login, without its secrets.
type credential struct {
	known   certainty
	path    string
	expires time.Time // zero if unknown
	renews  bool      // the CLI renews it by itself
}

func (c credential) expired(now time.Time) bool { return !c.expires.IsZero() && now.After(c.expires) }

// factReader reads credential files and caches what they say until they change.
// The zero value works; it is safe for concurrent use.
type factReader struct {
	mu   sync.Mutex
	seen map[factKey]readFact
}

// maxFacts bounds the cache: each working directory may have files of its own.
const maxFacts = 1000

type factKey struct {
	fact *compiledFact
	path string
}

type readFact struct {
	stamp localfile.Stamp
	told  credential
}

// look returns the surest credential in the places where the fact may be.
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
	if r.seen == nil || len(r.seen) > maxFacts {
		r.seen = map[factKey]readFact{}
	}
	r.seen[key] = readFact{stamp, told}
	return told
}

func (f *compiledFact) open(path string) credential {
	told := credential{known: present, path: path}
	if len(f.paths) == 0 && f.Pattern == "" && f.Expires == "" {
		return told // its existence is enough
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

// holds reports whether a text is what the fact says. A text that is not JSON where JSON is expected gives maybe.
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

// readExpiry reads a time: seconds or milliseconds since 1970, RFC 3339, or the
// expiry claim of a JSON Web Token. Anything else is the zero time.
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

// Untrusted reports whether the CLI trusts neither the working directory nor a folder above it, and returns that
// directory. trust are the facts of the CLI's spec that show a trusted folder; without any, every folder is trusted.
func Untrusted(trust []clispec.FileFact, at grammar.Place) (folder string, ok bool) {
	for _, fact := range trust {
		for _, dir := range grammar.Upward(at.Dir, "") {
			f := fact
			f.Pattern = strings.ReplaceAll(fact.Pattern, "{dir}", regexp.QuoteMeta(dir))
			f.JSON = map[string]string{}
			for path, value := range fact.JSON {
				f.JSON[strings.ReplaceAll(path, "{dir}", gjson.Escape(dir))] = value
			}
			compiled := compileFact(f)
			if new(factReader).look(&compiled, at).known != absent {
				return "", false
			}
		}
	}
	return at.Dir, len(trust) > 0
}
