package login

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
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
	"github.com/clichain/clichain/internal/jsontext"
	"github.com/clichain/clichain/internal/localfile"
	"github.com/clichain/clichain/internal/plaintext"
	"github.com/clichain/clichain/internal/resettime"
	"github.com/tidwall/gjson"
)

// certainty is how certain the presence of a credential is, in increasing order.
type certainty int

const (
	absent certainty = iota
	maybe
	present
)

const maxLoginFile = 1 << 20

// compiledFact is a FileFact whose patterns are compiled when its file is first found, because most of the
// files do not exist.
type compiledFact struct {
	clispec.FileFact
	template grammar.PathTemplate
	paths    []string // the keys of JSON, sorted
	local    bool     // the file is in the working directory
	patterns func() factPatterns
}

type factPatterns struct {
	paths  []jsontext.Path
	values []*regexp.Regexp // for the values at paths
	keys   *regexp.Regexp   // for the name of a member; nil matches any name
	text   *regexp.Regexp   // for the whole text; nil matches any text
}

func compileFact(f clispec.FileFact) compiledFact {
	c := compiledFact{FileFact: f, paths: slices.Sorted(maps.Keys(f.JSON))}
	c.template, _ = grammar.ReadPath(f.Path) // cannot fail: Validate has parsed it
	c.local = strings.HasPrefix(f.Path, "./")
	c.patterns = sync.OnceValue(func() (p factPatterns) {
		for _, path := range c.paths {
			p.paths = append(p.paths, jsontext.ParsePath(path))
			p.values = append(p.values, plaintext.Whole(f.JSON[path]))
		}
		if f.Keys != "" {
			p.keys = plaintext.Whole(f.Keys)
		}
		if f.Pattern != "" {
			p.text = regexp.MustCompile(f.Pattern)
		}
		return p
	})
	return c
}

// credential is what a file shows about a login, without its secrets.
type credential struct {
	known   certainty
	path    string
	stamp   localfile.Stamp // of the file at that time
	expires time.Time       // zero if unknown
	renews  bool            // the CLI renews it
	mark    string          // a hash of the values that identify the login; "" means that the stamp identifies it
}

func (c credential) expired(now time.Time) bool { return !c.expires.IsZero() && now.After(c.expires) }

// factReader reads credential files and caches the result until the file changes. The zero value works; it is
// safe for concurrent use.
type factReader struct {
	mu   sync.Mutex
	seen map[factKey]readFact
}

// maxFacts limits the cache, because each working directory may have its own files.
const maxFacts = 1000

type factKey struct {
	fact *compiledFact
	path string
}

type readFact struct {
	stamp localfile.Stamp
	told  credential
}

// look returns the most certain credential in the files that the fact may refer to. For a fact about the
// working directory, it ignores the files in own, which other facts cover.
func (r *factReader) look(f *compiledFact, at grammar.Place, own []string) credential {
	paths, ok := f.template.Paths(at)
	if !ok {
		return credential{known: maybe}
	}
	best := credential{}
	for _, path := range paths {
		if f.local && slices.Contains(own, path) {
			continue
		}
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
	told.stamp = stamp
	if r.seen == nil || len(r.seen) > maxFacts {
		r.seen = map[factKey]readFact{}
	}
	r.seen[key] = readFact{stamp, told}
	return told
}

func (f *compiledFact) open(path string) credential {
	told := credential{known: present, path: path}
	if len(f.paths) == 0 && f.Keys == "" && f.Pattern == "" && f.Expires == "" {
		return told // the existence of the file is enough
	}
	text, err := localfile.Read(path, maxLoginFile)
	if err != nil {
		told.known = maybe
		return told
	}
	told.known = f.holds(text)
	told.mark = f.mark(string(text), told.known)
	if doc := string(text); told.known == present && f.Expires != "" && gjson.Valid(doc) {
		told.expires = readExpiry(gjson.Get(doc, f.Expires))
		told.renews = f.renewal(doc) != ""
	}
	return told
}

// mark returns a hash of the credential in a text. It covers the refresh token; without one, the values that
// the fact names; without these, the whole text. Other data that a CLI writes beside a credential, such as a
// start counter, does not change the mark.
func (f *compiledFact) mark(text string, known certainty) string {
	h := sha256.New()
	_, _ = fmt.Fprint(h, known) // a hash never fails
	paths := f.paths
	switch renews := f.renewal(text); {
	case renews != "":
		_, _ = fmt.Fprint(h, renews)
		paths = nil
	case f.Keys != "" || f.Pattern != "" || len(paths) == 0:
		_, _ = fmt.Fprint(h, text)
	}
	for _, path := range paths {
		_, _ = fmt.Fprintf(h, "%q", gjson.Get(text, path).Raw)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// renewal returns the token with which the CLI renews a credential, or "".
func (f *compiledFact) renewal(text string) string {
	if f.Refresh == "" {
		return ""
	}
	return gjson.Get(text, f.Refresh).String()
}

// holds reports how certainly a text matches the fact. It returns maybe for a text that should be JSON but is
// not.
func (f *compiledFact) holds(text []byte) certainty {
	patterns := f.patterns()
	doc := strings.TrimSpace(strings.TrimPrefix(string(text), "\ufeff"))
	if patterns.text != nil && !patterns.text.MatchString(doc) {
		return absent
	}
	if len(f.paths) == 0 && patterns.keys == nil {
		return present
	}
	if end, ok := jsontext.Value([]byte(doc), jsontext.MaxDepth); !ok || end < len(doc) {
		return maybe
	}
	if patterns.keys != nil && !anyMatches(patterns.keys, jsontext.Names(doc)) {
		return absent
	}
	known := present
	for i := range patterns.paths {
		known = min(known, agreement(patterns.values[i], patterns.paths[i].All(doc)))
	}
	return known
}

func anyMatches(re *regexp.Regexp, names iter.Seq[string]) bool {
	for name := range names {
		if re.MatchString(name) {
			return true
		}
	}
	return false
}

// agreement reports whether the values at one path match. It returns maybe if only some of several match,
// because it is unknown which one the CLI reads.
func agreement(re *regexp.Regexp, values []gjson.Result) certainty {
	matching := 0
	for _, value := range values {
		if value.Type != gjson.Null && re.MatchString(value.String()) {
			matching++
		}
	}
	switch matching {
	case 0:
		return absent
	case len(values):
		return present
	}
	return maybe
}

// readExpiry reads a time: seconds or milliseconds since 1970, RFC 3339, or the expiry claim of a JSON Web
// Token. For any other value, it returns the zero time.
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

// Untrusted reports whether the CLI trusts neither the working directory nor a directory above it, and returns
// the working directory. trust are the facts in the CLI's spec that show a trusted directory. Without such
// facts, every directory is trusted.
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
			if new(factReader).look(&compiled, at, nil).known != absent {
				return "", false
			}
		}
	}
	return at.Dir, len(trust) > 0
}
