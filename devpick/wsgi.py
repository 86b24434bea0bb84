"""The WSGI entry point: `gunicorn --threads 8 devpick.wsgi`."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "devpick.settings")
application = get_wsgi_application()
