//go:build !linux

package process

import (
	"errors"
	"fmt"
	"time"
)

var errSystem = fmt.Errorf("the arena of real processes needs Linux: %w", errors.ErrUnsupported)

func now() (time.Duration, error) { return 0, errSystem }

func stopMyself() error { return errSystem }

func descriptors() int { return 0 }
