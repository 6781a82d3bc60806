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
	local    bool     // of the working directory
	patterns func() factPatterns
}

type factPatterns struct {
	paths  []jsontext.Path
	values []*regexp.Regexp // for the values at paths
	keys   *regexp.Regexp   // for the name of a member; nil matches any
	text   *regexp.Regexp   // for the whole text; nil matches any
}

func compileFact(f clispec.FileFact) compiledFact {
	c := compiledFact{FileFact: f, paths: slices.Sorted(maps.Keys(f.JSON))}
	c.template, _ = grammar.ReadPath(f.Path) // Validate has read it
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

// credential is what a file says about a login, without its secrets.
type credential struct {
	known   certainty
	path    string
	stamp   localfile.Stamp // of the file when it said so
	expires time.Time       // zero if unknown
	renews  bool            // the CLI renews it by itself
	mark    string          // a hash of what makes it another login; "": the file has to tell
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

// look returns the surest credential in the places where the fact may be. A file of the user's own does not count as
// one of the working directory below it: facts of its own are about it.
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
		return told // its existence is enough
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

// mark is a hash of the credential in a text: what renews it, or else the values that
// the fact is about, or else all of it. What a CLI notes beside a credential, such as
// how often it was started, makes no other login.
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

// renewal is what the CLI renews a credential with; "" for nothing.
func (f *compiledFact) renewal(text string) string {
	if f.Refresh == "" {
		return ""
	}
	return gjson.Get(text, f.Refresh).String()
}

// holds reports whether a text is what the fact says. A text that is not JSON where JSON is expected gives maybe.
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

// agreement tells whether the values at one path match: some of several leave it open which one the CLI reads.
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
			if new(factReader).look(&compiled, at, nil).known != absent {
				return "", false
			}
		}
	}
	return at.Dir, len(trust) > 0
}
