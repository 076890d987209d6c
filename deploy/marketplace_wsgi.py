"""The marketplace's WSGI application, that gunicorn serves."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "deploy.marketplace_settings")
application = get_wsgi_application()
