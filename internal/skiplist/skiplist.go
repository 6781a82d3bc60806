// Package skiplist reads lists of backends that are turned off, such as the value of SKIP_CLI. A misspelled
// name turns off every backend that it resembles, because a backend that runs despite the list may cost money.
// The package knows only the names that [Know] and [KnowLater] register.
package skiplist

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/clichain/clichain/internal/spelling"
)

var (
	allWords  = []string{"1", "true", "yes", "on", "all"}
	noneWords = []string{"0", "false", "no", "off", "none"}
)

// known maps the name of each backend in this process, in lower case, to the other names of that backend. The
// names decide whether a word is a mistake, and which backend a name turns off.
var known struct {
	sync.RWMutex
	others map[string][]string
	later  []func() [][]string // sources of names that have not been called yet
}

// Know registers the name of a backend and the other names by which a list can turn it off. It ignores empty
// names. It is safe for concurrent use.
func Know(name string, others ...string) {
	known.Lock()
	defer known.Unlock()
	know(name, others)
}

func know(name string, others []string) {
	if known.others == nil {
		known.others = map[string][]string{}
	}
	name = strings.ToLower(name)
	for _, word := range slices.Concat([]string{name}, others) {
		if word = strings.ToLower(word); word == "" {
			continue
		}
		if _, ok := known.others[word]; !ok {
			known.others[word] = nil
		}
		if word != name && !slices.Contains(known.others[name], word) {
			known.others[name] = append(known.others[name], word)
		}
	}
}

// KnowLater is Know for names that take a moment to compute. It calls source once, when the meaning of a word
// in a list first matters. Each list that source returns starts with the backend's own name. KnowLater is safe
// for concurrent use; source must not call this package.
func KnowLater(source func() [][]string) {
	known.Lock()
	defer known.Unlock()
	known.later = append(known.later, source)
}

// learn registers the names from the sources that have not been called yet.
func learn() {
	known.Lock()
	defer known.Unlock()
	for _, source := range known.later {
		for _, names := range source() {
			know(names[0], names[1:])
		}
	}
	known.later = nil
}

// OffNamed is Off for all names of the backends that are called name. A name that no backend has is used alone.
func OffNamed(list, name string) (off bool, doubt string) {
	if list == "" {
		return false, ""
	}
	learn()
	known.RLock()
	names := append(slices.Clone(known.others[strings.ToLower(name)]), name)
	known.RUnlock()
	return Off(list, names...)
}

// Off reports whether the list turns off the backend that has these names, or all backends if names is empty.
// If only a misspelled or misplaced word turns the backend off, doubt names that word; otherwise it is empty.
func Off(list string, names ...string) (off bool, doubt string) {
	if list == "" { // the usual case, checked before each call
		return false, ""
	}
	words := wordsOf(list)
	for _, word := range words {
		switch {
		case isName(word, names), len(words) == 1 && slices.Contains(allWords, word):
			return true, ""
		case doubt == "" && mayMean(word, names):
			doubt = why(word)
		}
	}
	return doubt != "", doubt
}

// Doubts describes each mistaken word and names the backends that it turns off.
func Doubts(list string) (doubts []string) {
	words := wordsOf(list)
	for _, word := range words {
		switch {
		case len(words) == 1 && (slices.Contains(allWords, word) || slices.Contains(noneWords, word)), isKnown(word):
		case mayMeanAll(word):
			doubts = append(doubts, why(word)+": all backends are turned off")
		default:
			doubts = append(doubts, why(word)+": "+meant(word)+" turned off")
		}
	}
	return doubts
}

// separators separate words. Quotes are included because some programs pass on the quotes of an environment
// file.
const separators = ",; \t\r\n\"'`“”‘’"

func wordsOf(list string) []string {
	return strings.FieldsFunc(strings.ToLower(list), func(r rune) bool { return strings.ContainsRune(separators, r) })
}

// why describes the mistake in a word.
func why(word string) string {
	if slices.Contains(allWords, word) || slices.Contains(noneWords, word) {
		return fmt.Sprintf("%q is mixed with backend names", word)
	}
	return fmt.Sprintf("%q is not a backend name", word)
}

// mayMean reports whether a word may be meant for one of the names, or for all backends.
func mayMean(word string, names []string) bool {
	return mayMeanAll(word) || !isKnown(word) && !slices.Contains(noneWords, word) &&
		slices.ContainsFunc(names, func(name string) bool { return near(word, strings.ToLower(name)) })
}

func mayMeanAll(word string) bool {
	if isKnown(word) || slices.Contains(noneWords, word) {
		return false
	}
	n, err := strconv.Atoi(word)
	return err == nil && n != 0 || slices.ContainsFunc(allWords, func(all string) bool { return near(word, all) })
}

// meant lists the backends that a misspelled word resembles, followed by a verb.
func meant(word string) string {
	learn()
	var names []string
	for _, name := range allKnown() {
		if mayMean(word, []string{name}) {
			names = append(names, name)
		}
	}
	switch slices.Sort(names); len(names) {
	case 0:
		return "no backend is"
	case 1:
		return names[0] + " is"
	}
	return strings.Join(names, ", ") + " are"
}

// near reports whether a word resembles a name: one is a prefix of the other, or they are spelled alike. A "*"
// at the end of the word is ignored.
func near(word, name string) bool {
	word = strings.TrimRight(word, "*")
	return name != "" && (strings.HasPrefix(name, word) || len(name) > 3 && strings.HasPrefix(word, name) ||
		spelling.Near(word, []string{name}) != "")
}

func isName(word string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return word == strings.ToLower(name) })
}

func isKnown(word string) bool {
	learn()
	known.RLock()
	defer known.RUnlock()
	_, ok := known.others[word]
	return ok
}

func allKnown() []string {
	known.RLock()
	defer known.RUnlock()
	return slices.Collect(maps.Keys(known.others))
}
