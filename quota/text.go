package quota

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseReserve parses a reserve from text: elements that are separated by commas. A number is the Share, and
// "codex=0.5" the share of a backend. Days, hours or both make a [Rule]: "sat-sun=0", "18:00-24:00=0" or
// "codex mon-fri 08:00-18:00=1". "expiring=30m" sets UseExpiring, and "zone=Europe/Berlin" the Location. ParseReserve
// also returns the [Reserve.Problem] as an error.
func ParseReserve(text string) (r Reserve, err error) {
	for element := range strings.SplitSeq(text, ",") {
		if err := r.add(strings.TrimSpace(element)); err != nil {
			return Reserve{}, err
		}
	}
	if problem := r.Problem(); problem != "" {
		return Reserve{}, errors.New(problem)
	}
	return r, nil
}

// add parses one element.
func (r *Reserve) add(element string) error {
	target, value, hasTarget := strings.Cut(element, "=")
	switch target = strings.TrimSpace(target); {
	case !hasTarget:
		return parseShare(element, element, &r.Share)
	case target == "expiring":
		return within("expiring", r.setExpiring(value))
	case target == "zone":
		return within("zone", r.setLocation(value))
	}
	rule := Rule{}
	if err := parseShare(element, value, &rule.Share); err != nil {
		return err
	}
	for word := range strings.FieldsSeq(target) {
		if _, problem := parseWeek(word, ""); problem == "" && rule.Days == "" {
			rule.Days = word
		} else if strings.Contains(word, ":") && rule.Hours == "" {
			rule.Hours = word
		} else if rule.Backends == nil {
			rule.Backends = []string{word}
		} else {
			return fmt.Errorf("%q: use at most one backend, one range of days and one of hours", element)
		}
	}
	switch {
	case rule.Days != "" || rule.Hours != "":
		r.Rules = append(r.Rules, rule)
	case rule.Backends == nil:
		return fmt.Errorf("%q has no name: use the name of a backend before =", element)
	default:
		if r.Backends == nil {
			r.Backends = map[string]float64{}
		}
		r.Backends[target] = rule.Share
	}
	return nil
}

func within(name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %w", name, err)
}

func parseShare(element, text string, share *float64) (err error) {
	if *share, err = strconv.ParseFloat(strings.TrimSpace(text), 64); err != nil {
		return fmt.Errorf(`%q is no reserve: use a share such as 0.3, or "0.3,codex=0.5"`, element)
	}
	return nil
}

func (r *Reserve) setExpiring(text string) (err error) {
	if r.UseExpiring, err = time.ParseDuration(text); err != nil {
		return fmt.Errorf("is %q: use a time with a unit, such as 30m", text)
	}
	return nil
}

func (r *Reserve) setLocation(name string) (err error) {
	if r.Location, err = time.LoadLocation(name); err != nil {
		return fmt.Errorf("is %q: use the name of a time zone, such as Europe/Berlin: %w", name, err)
	}
	return nil
}
