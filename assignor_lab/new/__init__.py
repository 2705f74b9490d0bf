"""New distributions of assignors, laid out from a template that travels in this package."""

from assignor_lab.new.laying_out import KINDS_OF_NEW, NameRefusedError, TemplateError, laid_out, updated

__all__ = ["KINDS_OF_NEW", "NameRefusedError", "TemplateError", "laid_out", "updated"]
