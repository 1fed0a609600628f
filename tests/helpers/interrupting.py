"""Ctrl-C at a chosen moment of a fit."""

from f2sl._progress import Display


class ThirdStep(Display):
    """Lets Ctrl-C come at the third step of hill climbing."""

    def begin(self, stage):
        self.left = 3 if stage == "hill climbing" else -1

    def advance(self, share):
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt
