"""New distributions of assignors, from a template in this package."""

from assignor_lab.new.laying_out import (
    KINDS_OF_NEW,
    NameRefusedError,
    TemplateError,
    laid_out,
    module_of,
    steps_of,
    updated,
)

__all__ = ["KINDS_OF_NEW", "NameRefusedError", "TemplateError", "laid_out", "module_of", "steps_of", "updated"]
