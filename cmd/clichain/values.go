package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/clichain/clichain"
)

// into makes the function that parses a flag's value and stores it. A mistake is reported with the flag and the value.
func into[T any](value *T, parse func(string) (T, error)) func(string) error {
	return func(text string) (err error) {
		*value, err = parse(text)
		return err
	}
}

func parseDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, errors.New("write a time above zero with its unit, such as 90s or 5m")
	}
	return d, nil
}

func parseCount(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n <= 0 {
		return 0, errors.New("write a whole number above zero")
	}
	return n, nil
}

func parseDollars(text string) (float64, error) {
	d, err := strconv.ParseFloat(text, 64)
	if err != nil || !(d > 0) || math.IsInf(d, 0) {
		return 0, errors.New("write an amount in US dollars, such as 0.50")
	}
	return d, nil
}

func parseAccess(text string) (access clichain.Access, err error) {
	if err := access.UnmarshalText([]byte(text)); err != nil || text == "" {
		return 0, errors.New("use none, read, write or full")
	}
	return access, nil
}

func oneOf[T ~string](words ...T) func(string) (T, error) {
	return func(text string) (T, error) {
		if !slices.Contains(words, T(text)) {
			return "", fmt.Errorf("use one of %q", words)
		}
		return T(text), nil
	}
}

func parseNames(text string) (names []string, err error) {
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("name at least one backend, such as %s", strings.Join(builtinNames()[:2], ","))
	}
	return names, nil
}
